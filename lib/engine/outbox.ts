import { KeyhookError, kernelError } from '../errors.ts'
import { createLanes } from '../internal/lanes.ts'
import type { Millis } from '../time.ts'
import type { IsBuiltIn } from '../webhook/match.ts'
import { matches } from '../webhook/match.ts'
import type { Woken } from './birth.ts'
import type { Changes } from './changes.ts'
import { bear } from './birth.ts'
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
import type { WaitingCall, WaitingLimits } from './waiting-calls.ts'
import { createWaitingCalls } from './waiting-calls.ts'

/** The dispatcher as the outbox sees it: it may take a delivery over in memory, without reading it back. */
export interface Handover {
  /**
   * A claim token when this webhook can be sent to and its queue has a place, which is now held; else
   * undefined.
   */
  reserve(target: Target): string | undefined
  /** Gives a held place back unused. */
  cancel(webhookId: string): void
  /** Sends a delivery whose birth is committed, from the place that was reserved for it. */
  send(claimed: ClaimedDelivery): void
}

export interface Outbox {
  /**
   * Publishes events of one account together; resolves after the commit, one outcome per event.
   *
   * @throws KeyhookError `unavailable` when they are not, or cannot be known to be, committed;
   * `rate_limited` when they are not committed, since too many events of the account wait; TypeError for
   * events of several accounts
   */
  publish(events: readonly NewEvent[]): Promise<readonly PublishOutcome[]>
}

export interface OutboxOptions {
  readonly store: Pick<EngineStore, 'publish'>
  readonly targets: Pick<Targets, 'peek' | 'get'>
  readonly changes: Pick<Changes, 'isCurrent'>
  readonly handover: Handover
  readonly woken: Signal<Woken>
  readonly clock: Clock
  /** Time-ordered ids for deliveries. */
  readonly newId: () => string
  /** How long a delivery that is born claimed stays claimed. */
  readonly lease: Millis
  readonly isBuiltIn: IsBuiltIn
  readonly events?: Partial<EngineEvents>
  /** What a group takes and what may wait. */
  readonly waiting?: WaitingLimits
}

/** One call's events, waiting for a commit. */
interface Call extends WaitingCall {
  readonly events: readonly NewEvent[]
  /** The account's webhooks, if they were read after the call came. */
  read: AccountTargets | undefined
  matched: Matched | undefined
  readonly resolve: (outcomes: readonly PublishOutcome[]) => void
}

/** The webhooks that each event of a call goes to, among those of an account. */
interface Matched {
  readonly among: AccountTargets
  readonly targets: readonly (readonly Target[])[]
  /** Events and deliveries. */
  readonly rows: number
}

/** Accounts whose webhooks are read at once. The store has connections left for the commits. */
const LOADS_AT_ONCE = 4

/**
 * Commits concurrent publishes in groups: one fsync for many.
 *
 * While one group commits the next collects, and each takes in what has arrived already. No timer: a
 * window would only add its own length to every answer. Accounts take turns in the groups. A group takes
 * the calls whose account's webhooks are known; those of the others are read meanwhile.
 */
export function createOutbox(options: OutboxOptions): Outbox {
  const { store, targets, changes, handover, woken, clock, newId, lease, isBuiltIn } = options
  const waiting = createWaitingCalls<Call>((call) => match(call)?.rows, options.waiting)
  /** Accounts whose webhooks are being read. */
  const loading = new Set<string>()
  const lanes = createLanes(LOADS_AT_ONCE)
  let running = false

  function start(): void {
    if (!running) void drain()
  }

  /** Ends when only calls are left whose webhooks are being read: each read starts it again. */
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

  /** Reads beside the commits: a slow read delays its own account alone. */
  function loadUnknown(account: string): void {
    if (loading.has(account) || targets.peek(account) !== undefined) return
    if (waiting.of(account).every((call) => targetsOf(call) !== undefined)) return
    loading.add(account)
    void lanes(() => load(account))
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
   * The account's webhooks for a call: the cached ones, or, while the cache may miss changes, those read
   * after the call came. Undefined until they are read, and after a change made them stale.
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
    let births: readonly Publication[] = []
    let outcomes: readonly PublishOutcome[]
    try {
      outcomes = await store.publish(() => {
        calls = waiting.take()
        births = calls.flatMap((call) => {
          const found = match(call)?.targets ?? []
          return call.events.map((event, index) => build(event, found[index] ?? []))
        })
        return births
      })
    } catch (cause) {
      for (const birth of births) leave(birth)
      // The store may fail before it asks for the group: then no call was taken yet.
      refuse(calls.length === 0 ? waiting.take() : calls, cause)
      return
    }
    for (const [index, birth] of births.entries()) handOver(birth, outcomes[index] === 'stored')
    const stored = outcomes.filter((outcome) => outcome === 'stored').length
    if (stored > 0) options.events?.committed?.(stored)
    answer(calls, outcomes)
  }

  /** A failed commit may still have been made: then its deliveries are due when their lease ends. */
  function leave(birth: Publication): void {
    cancel(birth)
    const due = clock.now() + lease
    for (const { status, webhook_id, account_id } of birth.deliveries) {
      if (status !== 'skipped') woken.emit({ webhook_id, account_id, due })
    }
  }

  /** A fault of the machine refuses the whole group; any other may be one event's, so each goes alone. */
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
      const delivery = bear(newId(), event, target.webhook, now)
      const claim = handover.reserve(target)
      return claim === undefined
        ? delivery
        : { ...delivery, status: 'delivering', claim, next_at: now + lease }
    })
    return { event, deliveries }
  }

  function handOver(birth: Publication, stored: boolean): void {
    if (!stored) {
      cancel(birth)
      return
    }
    for (const delivery of birth.deliveries) {
      if (delivery.claim !== null) {
        handover.send({ delivery, body: birth.event.body })
      } else if (delivery.status === 'pending') {
        const { webhook_id, account_id, created_at } = delivery
        woken.emit({ webhook_id, account_id, due: created_at })
      }
    }
  }

  function cancel({ deliveries }: Publication): void {
    for (const { claim, webhook_id } of deliveries) if (claim !== null) handover.cancel(webhook_id)
  }

  return {
    publish(events) {
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
    },
  }
}

/** The targets of each event; events of one type and app share them. */
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
