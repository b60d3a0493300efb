import type { DisablingRule } from '../delivery/health.ts'
import type { RetrySchedule } from '../delivery/schedule.ts'
import type { Millis } from '../time.ts'
import { createEventId, serializeEvent } from '../webhook/event.ts'
import type { BrandNames } from '../webhook/headers.ts'
import type { IsBuiltIn } from '../webhook/match.ts'
import { createAttempt } from './attempt.ts'
import type { PublishIn, WorkAvailable } from './enqueue.ts'
import { createPublishIn } from './enqueue.ts'
import { watchHealth } from './disabling.ts'
import type { Dispatcher } from './dispatcher.ts'
import { createDispatcher } from './dispatcher.ts'
import type { Keyring } from './keyring.ts'
import type { SendLimits } from './webhook-queues.ts'
import { guardListeners, createSignal } from './signal.ts'
import type { Outbox } from './outbox.ts'
import { createOutbox } from './outbox.ts'
import type { Clock, EngineEvents, EngineStore, NewEvent, RandomBytes, Sender } from './ports.ts'
import { LEASE_MARGIN } from './ports.ts'
import type { SettledGroup } from './recorder.ts'
import { createRecorder } from './recorder.ts'
import type { Targets } from './targets.ts'
import type { Tracing } from './tracing.ts'
import { createTargets } from './targets.ts'

export interface EngineOptions {
  readonly store: EngineStore
  readonly sender: Sender
  readonly clock: Clock
  readonly random: RandomBytes
  /** Time-ordered unique ids (UUIDv7). */
  readonly newId: () => string
  readonly keyring: Keyring
  readonly names: BrandNames
  readonly schedule: RetrySchedule
  readonly disabling: DisablingRule
  readonly limits: SendLimits
  /** Maximum duration of one attempt, including DNS and connect. */
  readonly timeout: Millis
  /** Duration of a claim, longer than the timeout. Default: the timeout and 20 s. */
  readonly lease?: Millis
  /** The types that a subscription to `*` includes. Default: none. */
  readonly isBuiltIn?: IsBuiltIn
  readonly events?: Partial<EngineEvents>
  /** Makes spans of publications and attempts. Default: none are made. */
  readonly tracing?: Tracing | undefined
}

/** Publishes events and delivers them to webhooks. */
export interface Engine {
  readonly outbox: Outbox
  readonly dispatcher: Dispatcher
  readonly targets: Targets
  readonly publishIn: PublishIn
  /** Whether nothing is being claimed, sent, recorded, or judged for its failures. */
  readonly isIdle: boolean
  /** Creates an event with a new id, serialized once. `now` defaults to the clock, `appId` to null. */
  newEvent(
    accountId: string,
    type: string,
    data: object,
    now?: number,
    appId?: string | null,
  ): NewEvent
  /** Notifies the dispatcher of pending work that was committed elsewhere, such as a manual retry. */
  notify(work: WorkAvailable): void
  /**
   * Creates a fencing token of this process. Every claim needs one: a claim of an unknown process counts
   * as one of a process that has ended.
   */
  newClaim(): string
  readonly lease: Millis
}

/**
 * Creates an engine over a store and a sender. Start it with `engine.dispatcher.start()`.
 *
 * @throws TypeError when the lease is not longer than the timeout: no send could then begin
 */
export function createEngine(options: EngineOptions): Engine {
  const {
    store,
    sender,
    clock,
    random,
    newId,
    keyring,
    names,
    schedule,
    limits,
    timeout,
    tracing,
  } = options
  const events = guardListeners(options.events ?? {})
  const lease = options.lease ?? timeout + LEASE_MARGIN
  if (lease <= timeout) throw new TypeError('the lease must be longer than the timeout')
  const isBuiltIn = options.isBuiltIn ?? (() => false)
  const workAvailable = createSignal<WorkAvailable>()
  const settled = createSignal<SettledGroup>()
  const recovered = createSignal<void>()

  const newEvent: Engine['newEvent'] = (accountId, type, data, now = clock.now(), appId = null) => {
    const id = createEventId(now, random)
    const body = serializeEvent({ id, type, created_at: now, data })
    return {
      id,
      account_id: accountId,
      app_id: appId,
      type,
      created_at: now,
      body,
      supplied: false,
    }
  }

  const targets = createTargets(store, keyring)
  const publishIn = createPublishIn({ clock, newId, workAvailable, isBuiltIn, events, tracing })
  const recorder = createRecorder({ store, clock, events, settled, recovered })
  const newClaim = (): string => `${store.claimant}.${newId()}`
  const chance = (): number => (random(1)[0] ?? 0) / 256
  const dispatcher = createDispatcher({
    store,
    targets,
    attempt: createAttempt({ sender, clock, names, schedule, timeout, chance, tracing }),
    recorder,
    recovered,
    workAvailable,
    clock,
    limits,
    timeout,
    lease,
    newClaim,
    events,
  })
  const outbox = createOutbox({
    store,
    targets,
    changes: store.changes,
    handover: dispatcher,
    workAvailable,
    clock,
    newId,
    lease,
    isBuiltIn,
    events,
    tracing,
  })
  const rule = options.disabling
  // No request asks for these events: they are of no trace.
  const publishUntraced = createPublishIn({ clock, newId, workAvailable, isBuiltIn, events })
  const health = watchHealth({
    store,
    settled,
    publishIn: publishUntraced,
    rule,
    clock,
    newEvent,
    events,
  })

  return {
    outbox,
    dispatcher,
    targets,
    publishIn,
    get isIdle() {
      return dispatcher.isIdle && health.isIdle
    },
    newEvent,
    notify: workAvailable.emit,
    newClaim,
    lease,
  }
}
