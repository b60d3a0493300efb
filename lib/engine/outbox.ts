import { KeyhookError, kernelError } from '../errors.ts'
import { createLimiter } from '../internal/limiter.ts'
import type { Millis } from '../time.ts'
import type { IsBuiltIn } from '../webhook/match.ts'
import { matches } from '../webhook/match.ts'
import type { WorkAvailable } from './enqueue.ts'
import type { Changes } from './changes.ts'
import { createDelivery } from './enqueue.ts'
import type {
  ClaimedDelivery,
  Clock,
  DeliveryRecord,
  EngineEvents,
  EngineStore,
  NewEvent,
  Publication,
  PublishOutcome,
} from './ports.ts'
import type { Signal } from './signal.ts'
import type { AccountTargets, Target, Targets } from './targets.ts'
import type { Tracing } from './tracing.ts'
import { withContext } from './tracing.ts'
import type { WaitingCall, WaitingLimits } from './waiting-calls.ts'
import { createWaitingCalls } from './waiting-calls.ts'

/** The outbox's view of the dispatcher: it accepts new deliveries in memory, without a read from the store. */
export interface Handover {
  /**
   * Reserves capacity in a webhook's queue. Returns a claim token, or undefined when the webhook cannot be
   * sent to or has no capacity.
   */
  reserve(target: Target): string | undefined
  /** Releases a reservation unused. */
  cancel(webhookId: string): void
  /** Sends a committed delivery, using its reservation. */
  send(claimed: ClaimedDelivery): void
}

export interface Outbox {
  /**
   * Publishes events of one account together. Resolves after the commit with one outcome per event.
   *
   * @throws KeyhookError `unavailable` when the commit failed or its result is unknown
   * @throws KeyhookError `rate_limited` when too many events of the account wait; none is committed
   * @throws TypeError for events of several accounts
   */
  publish(events: readonly NewEvent[]): Promise<readonly PublishOutcome[]>
}

export interface OutboxOptions {
  readonly store: Pick<EngineStore, 'publish'>
  readonly targets: Pick<Targets, 'peek' | 'get'>
  readonly changes: Pick<Changes, 'isCurrent'>
  readonly handover: Handover
  readonly workAvailable: Signal<WorkAvailable>
  readonly clock: Clock
  /** Creates time-ordered ids of deliveries. */
  readonly newId: () => string
  /** Duration of the claim of a delivery that is created claimed. */
  readonly lease: Millis
  readonly isBuiltIn: IsBuiltIn
  readonly events?: Partial<EngineEvents>
  readonly tracing?: Tracing | undefined
  /** Limits of a group and of the waiting calls. */
  readonly waiting?: WaitingLimits
}

/** One call to `publish`, waiting for its commit. */
interface Call extends WaitingCall {
  readonly events: readonly NewEvent[]
  /** The account's webhooks, when they were read after the call arrived. */
  read: AccountTargets | undefined
  matched: Matched | undefined
  readonly resolve: (outcomes: readonly PublishOutcome[]) => void
}

/** The receivers of each event of a call, among the webhooks of its account. */
interface Matched {
  readonly among: AccountTargets
  readonly targets: readonly (readonly Target[])[]
  /** Events and deliveries. */
  readonly rows: number
}

/** Maximum accounts whose webhooks are read concurrently, so that connections are left for commits. */
const MAX_CONCURRENT_READS = 4

/**
 * Commits concurrent calls in groups, with one fsync per group (group commit).
 *
 * While one group commits, the next one collects the calls that arrive. There is no timer: it would only
 * delay every response. Accounts take turns in the groups. A group contains only calls of accounts whose
 * webhooks are known; the others are read concurrently.
 */
export function createOutbox(options: OutboxOptions): Outbox {
  const { store, targets, changes, handover, workAvailable, clock, newId, lease, isBuiltIn } =
    options
  const waiting = createWaitingCalls<Call>((call) => match(call)?.rows, options.waiting)
  /** Accounts whose webhooks are being read. */
  const loading = new Set<string>()
  const limit = createLimiter(MAX_CONCURRENT_READS)
  let running = false

  function start(): void {
    if (!running) void drain()
  }

  /** Ends when only calls are left whose webhooks are being read. The end of a read starts it again. */
  async function drain(): Promise<void> {
    running = true
    do {
      await clock.taken()
      for (const account of waiting.accounts) loadUnknown(account)
      if (!waiting.hasReady) break
      await commitGroup()
    } while (!waiting.isEmpty)
    running = false
  }

  /** Reads concurrently with the commits, so that a slow read delays only its own account. */
  function loadUnknown(account: string): void {
    if (loading.has(account) || targets.peek(account) !== undefined) return
    if (waiting.of(account).every((call) => targetsOf(call) !== undefined)) return
    loading.add(account)
    void limit(() => load(account))
  }

  async function load(account: string): Promise<void> {
    const calls = waiting.of(account)
    try {
      const read = await targets.get(account)
      for (const call of calls) call.read = read
    } catch (cause) {
      waiting.remove(calls)
      for (const call of calls) refuse([call], cause)
    }
    loading.delete(account)
    start()
  }

  /**
   * The account's webhooks for a call: the cached ones, or, while the cache may miss changes, those that
   * were read after the call arrived. Undefined before they are read and after a change.
   */
  function targetsOf(call: Call): AccountTargets | undefined {
    return changes.isCurrent() ? targets.peek(call.account) : call.read
  }

  /** Undefined while the account's webhooks are not known. */
  function match(call: Call): Matched | undefined {
    const among = targetsOf(call)
    if (among === undefined) return undefined
    if (call.matched?.among === among) return call.matched
    const found = receiversOf(call.events, [...among.values()], isBuiltIn)
    const rows = found.reduce((sum, { length }) => sum + length, call.events.length)
    call.matched = { among, targets: found, rows }
    return call.matched
  }

  async function commitGroup(): Promise<void> {
    let calls: readonly Call[] = []
    let publications: readonly Publication[] = []
    let outcomes: readonly PublishOutcome[]
    try {
      outcomes = await store.publish(() => {
        calls = waiting.take()
        publications = calls.flatMap((call) => {
          const found = match(call)?.targets ?? []
          return call.events.map((event, index) => build(event, found[index] ?? []))
        })
        return publications
      })
    } catch (cause) {
      for (const publication of publications) abandon(publication)
      // When the store failed before it built the group, no call was taken yet.
      refuse(calls.length === 0 ? waiting.take() : calls, cause)
      return
    }
    for (const [index, publication] of publications.entries())
      handOver(publication, outcomes[index] === 'stored')
    const stored = outcomes.filter((outcome) => outcome === 'stored').length
    if (stored > 0) options.events?.committed?.(stored)
    answer(calls, outcomes)
  }

  /** A commit whose result is unknown may have happened: then its deliveries are due when their lease expires. */
  function abandon(publication: Publication): void {
    cancel(publication)
    const due = clock.now() + lease
    for (const { status, webhook_id, account_id } of publication.deliveries) {
      if (status !== 'skipped') workAvailable.emit({ webhook_id, account_id, due })
    }
  }

  /** A failed store rejects the whole group. One event may cause any other error, so each call is retried alone. */
  function refuse(calls: readonly Call[], cause: unknown): void {
    if (calls.length > 1 && !(cause instanceof KeyhookError)) {
      waiting.putBack(calls.map((call) => ({ ...call, alone: true })))
      return
    }
    const reason = cause instanceof KeyhookError ? cause : kernelError('unavailable', { cause })
    for (const call of calls) call.reject(reason)
  }

  function build(event: NewEvent, receivers: readonly Target[]): Publication {
    const now = clock.now()
    const deliveries = receivers.map((target): DeliveryRecord => {
      const delivery = createDelivery(newId(), event, target.webhook, now)
      const claim = handover.reserve(target)
      return claim === undefined
        ? delivery
        : { ...delivery, status: 'delivering', claim, next_at: now + lease }
    })
    return { event, deliveries }
  }

  function handOver(publication: Publication, stored: boolean): void {
    if (!stored) {
      cancel(publication)
      return
    }
    for (const delivery of publication.deliveries) {
      if (delivery.claim !== null) {
        const { body, traceparent } = publication.event
        handover.send({ delivery, body, traceparent })
      } else if (delivery.status === 'pending') {
        const { webhook_id, account_id, created_at } = delivery
        workAvailable.emit({ webhook_id, account_id, due: created_at })
      }
    }
  }

  function cancel({ deliveries }: Publication): void {
    for (const { claim, webhook_id } of deliveries) if (claim !== null) handover.cancel(webhook_id)
  }

  function publish(events: readonly NewEvent[]): Promise<readonly PublishOutcome[]> {
    const [first] = events
    if (first === undefined) return Promise.resolve([])
    const account = first.account_id
    return new Promise((resolve, reject) => {
      if (events.some(({ account_id }) => account_id !== account)) {
        throw new TypeError('events that are published together must be of one account')
      }
      const bytes = events.reduce((sum, { body }) => sum + body.length, 0)
      const unread = { read: undefined, matched: undefined }
      waiting.add({ account, events, bytes, alone: false, ...unread, resolve, reject })
      loadUnknown(account)
      start()
    })
  }

  const { tracing } = options
  if (tracing === undefined) return { publish }
  return {
    publish: (events) =>
      tracing.publish(events, (traceparent) => publish(withContext(events, traceparent))),
  }
}

/** The receivers of each event; events of one type and app share a list. */
export function receiversOf(
  events: readonly NewEvent[],
  all: readonly Target[],
  isBuiltIn: IsBuiltIn,
): readonly (readonly Target[])[] {
  const known = new Map<string, readonly Target[]>()
  return events.map((event) => {
    const key = `${event.type} ${event.app_id ?? ''}`
    const receivers =
      known.get(key) ?? all.filter(({ webhook }) => matches(webhook, event, isBuiltIn))
    known.set(key, receivers)
    return receivers
  })
}

function answer(calls: readonly Call[], outcomes: readonly PublishOutcome[]): void {
  let from = 0
  for (const call of calls) {
    call.resolve(outcomes.slice(from, from + call.events.length))
    from += call.events.length
  }
}
