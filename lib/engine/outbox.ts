import { KeyhookError, kernelError } from '../errors.ts'
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
   * TypeError for events of several accounts
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
  /** Events that one commit takes; more wait for the next. Default 256. */
  readonly maxGroup?: number
}

/** One call's events, waiting for a commit. */
interface Waiting {
  readonly events: readonly NewEvent[]
  /** Of all its bodies. */
  readonly bytes: number
  /** Its group failed for a reason that might be another's, so it is tried by itself. */
  readonly alone: boolean
  /** The account's webhooks, should they have been read since it came. */
  read: AccountTargets | undefined
  readonly resolve: (outcomes: readonly PublishOutcome[]) => void
  readonly reject: (reason: unknown) => void
}

const MAX_GROUP_BYTES = 4 * 1_048_576
const MAX_WAITING_BYTES = 64 * 1_048_576

/**
 * Commits concurrent publishes in groups: one fsync for many.
 *
 * While one group commits the next collects, and each takes in what has arrived already. No timer: a
 * window would only add its own length to every answer.
 */
export function createOutbox(options: OutboxOptions): Outbox {
  const { store, targets, changes, handover, woken, clock, newId, lease, isBuiltIn } = options
  const maxGroup = options.maxGroup ?? 256
  let waiting: Waiting[] = []
  let waitingBytes = 0
  let running = false

  async function drain(): Promise<void> {
    running = true
    while (waiting.length > 0) {
      await clock.taken()
      await loadTargets()
      await commitGroup()
    }
    running = false
  }

  async function loadTargets(): Promise<void> {
    const calls = waiting
    for (const accountId of new Set(calls.map(accountOf))) {
      if (targets.peek(accountId) !== undefined) continue
      const own = calls.filter((call) => accountOf(call) === accountId)
      try {
        const read = await targets.get(accountId)
        for (const call of own) call.read = read
      } catch (cause) {
        waiting = waiting.filter((call) => !own.includes(call))
        for (const call of own) refuse([call], cause)
      }
    }
  }

  /**
   * The webhooks that a call's events go to: those that are known now, or, while changes may go unheard,
   * those read since it came. Undefined when a change overtook that reading.
   */
  function targetsOf(call: Waiting): AccountTargets | undefined {
    return changes.isCurrent() ? targets.peek(accountOf(call)) : call.read
  }

  /** Takes calls up to the size of a group whose webhooks are known at this very moment. */
  function takeReady(): Waiting[] {
    const taken: Waiting[] = []
    const left: Waiting[] = []
    let size = 0
    let bytes = 0
    for (const call of waiting) {
      const small = size + call.events.length <= maxGroup && bytes + call.bytes <= MAX_GROUP_BYTES
      const fits = size === 0 || (!call.alone && small)
      const ready = fits && targetsOf(call) !== undefined
      ;(ready ? taken : left).push(call)
      if (!ready) continue
      size += call.alone ? maxGroup : call.events.length
      bytes += call.bytes
    }
    waiting = left
    waitingBytes = left.reduce((sum, call) => sum + call.bytes, 0)
    return taken
  }

  async function commitGroup(): Promise<void> {
    let calls: readonly Waiting[] = []
    let births: readonly Publication[] = []
    let outcomes: readonly PublishOutcome[]
    try {
      outcomes = await store.publish(() => {
        calls = takeReady()
        births = calls.flatMap((call) => {
          const known = [...(targetsOf(call)?.values() ?? [])]
          return call.events.map((event) => build(event, known))
        })
        return births
      })
    } catch (cause) {
      for (const birth of births) leave(birth)
      // A store may fail before it is this group's turn: then nobody was taken yet.
      refuse(calls.length === 0 ? takeReady() : calls, cause)
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
  function refuse(calls: readonly Waiting[], cause: unknown): void {
    if (calls.length > 1 && !(cause instanceof KeyhookError)) {
      waiting = [...calls.map((call) => ({ ...call, alone: true })), ...waiting]
      return
    }
    const reason = cause instanceof KeyhookError ? cause : kernelError('unavailable', { cause })
    for (const call of calls) call.reject(reason)
  }

  function build(event: NewEvent, known: readonly Target[]): Publication {
    const now = clock.now()
    const matching = known.filter(({ webhook }) => matches(webhook, event, isBuiltIn))
    const deliveries = matching.map((target): DeliveryRecord => {
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
      if (events.length === 0) return Promise.resolve([])
      return new Promise((resolve, reject) => {
        if (new Set(events.map(({ account_id }) => account_id)).size > 1) {
          throw new TypeError('events that are published together must be of one account')
        }
        const bytes = events.reduce((sum, { body }) => sum + body.length, 0)
        // A disk that stalls must not fill the memory: who is refused here has lost nothing.
        if (waitingBytes + bytes > MAX_WAITING_BYTES) throw kernelError('unavailable')
        waitingBytes += bytes
        waiting.push({ events, bytes, alone: false, read: undefined, resolve, reject })
        if (!running) void drain()
      })
    },
  }
}

function accountOf(call: Waiting): string {
  return call.events[0]?.account_id ?? ''
}

function answer(calls: readonly Waiting[], outcomes: readonly PublishOutcome[]): void {
  let from = 0
  for (const call of calls) {
    call.resolve(outcomes.slice(from, from + call.events.length))
    from += call.events.length
  }
}
