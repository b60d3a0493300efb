import { isAgain } from '../delivery/state.ts'
import type { Instant, Millis } from '../time.ts'
import { SECOND } from '../time.ts'
import type { FinishedAttempt, MakeAttempt } from './attempt.ts'
import { createBacklog } from './backlog.ts'
import type { Woken } from './birth.ts'
import type { Lane, LaneLimits } from './lanes.ts'
import { LONGEST_PARK, createLanes } from './lanes.ts'
import { createLeaps } from './leap.ts'
import type { Handover } from './outbox.ts'
import type { ClaimedDelivery, Clock, DeliveryRecord, EngineEvents, EngineStore } from './ports.ts'
import type { Recorder } from './recorder.ts'
import type { Signal } from './signal.ts'
import type { OpenSecret, Target, Targets } from './targets.ts'

/** Sends due deliveries: new ones from memory, a backlog from the store. */
export interface Dispatcher extends Handover {
  /** Releases claims of ended processes and starts sending. */
  start(): Promise<void>
  /** Searches for work that was committed without a notification: of these webhooks, or of all. */
  refresh(webhookIds?: readonly string[]): Promise<void>
  /**
   * Stops claiming, waits for sends in progress, and releases the other claims. It waits at most one lease
   * for a store that does not record outcomes.
   */
  stop(): Promise<void>
  /**
   * Sends one claimed delivery at once, outside every limit, and resolves once its outcome is recorded. A
   * delivery whose secret cannot be decrypted is released unsent.
   */
  sendNow(delivery: DeliveryRecord, body: Uint8Array, target: Target): Promise<void>
}

export interface DispatcherOptions {
  readonly store: Pick<
    EngineStore,
    'recover' | 'lanes' | 'claim' | 'release' | 'disclaim' | 'announce'
  >
  readonly targets: Pick<Targets, 'find'>
  readonly attempt: MakeAttempt
  readonly recorder: Recorder
  readonly recovered: Signal<void>
  readonly woken: Signal<Woken>
  readonly clock: Clock
  readonly limits: LaneLimits
  /** Maximum duration of an attempt. A send starts only when its lease outlasts it. */
  readonly timeout: Millis
  readonly lease: Millis
  /** Creates a unique fencing token for a claim. */
  readonly newClaim: () => string
  readonly events?: Partial<EngineEvents>
}

type Sendable = Target & { readonly secrets: readonly OpenSecret[] }

/** Pause of a webhook that cannot be sent to, which prevents a busy loop of claims and releases. */
const PARK: Millis = SECOND
/** Pause of a webhook that cannot be signed for, such as with an unreadable secret: the operator must act. */
const UNREADABLE_PARK: Millis = LONGEST_PARK
/** Upper bound of the wait for a rate limit, so that a change of the wall clock is noticed. */
const LONGEST_TURN: Millis = SECOND

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { store, targets, attempt, recorder, clock, limits, timeout, lease, newClaim } = options
  const lanes = createLanes(limits)
  const births = newClaim()
  const leaps = createLeaps(clock)
  let running = false
  let cancelTurn = (): void => undefined
  let idlers: (() => void)[] = []
  /** Claimed deliveries whose release failed and is retried. */
  const owed: DeliveryRecord[] = []

  const backlog = createBacklog({
    store,
    targets,
    lanes,
    recorder,
    clock,
    leaps,
    lease,
    newClaim,
    queued: fillSlots,
    ...(options.events && { events: options.events }),
  })

  options.recovered.listen(() => {
    void claimAnew()
  })
  options.woken.listen(({ webhook_id, account_id, due }) => {
    const lane = lanes.get(webhook_id, account_id)
    // Another process may take what this one does not take at once.
    if (due <= clock.now() && !(running && lanes.hasRoom(lane, due))) store.announce?.([webhook_id])
    backlog.wake(lane, due, false)
  })

  function fillSlots(): void {
    if (!running || recorder.stuck) return
    const now = clock.now()
    for (let next = lanes.next(now); next !== undefined; next = lanes.next(now)) {
      void sendClaimed(next.lane, next.claimed)
    }
    cancelTurn()
    const turn = lanes.nextTurn(now)
    if (turn !== null) cancelTurn = clock.after(Math.min(turn - now, LONGEST_TURN), fillSlots)
  }

  async function sendClaimed(lane: Lane, { delivery, body }: ClaimedDelivery): Promise<void> {
    const found = findTarget(delivery)
    const target = found instanceof Promise ? await found : found
    // Changed limits apply from the next send on, also to queued deliveries.
    if (target !== undefined) lanes.shape(lane, target.webhook)
    const enough = (delivery.next_at ?? 0) - clock.now() >= timeout
    if (target === undefined || !isActive(target)) park(lane, PARK)
    else if (!isSendable(target)) park(lane, UNREADABLE_PARK)
    else if (enough && running) return sendInSlot(lane, delivery, body, target)
    lane.pace.giveBack()
    await giveBack([delivery])
    freeSlot(lane)
  }

  function park(lane: Lane, rest: Millis): void {
    lane.parked_until = clock.now() + rest
  }

  /** Returns a promise only when the webhook must be read. */
  function findTarget({
    account_id,
    webhook_id,
  }: DeliveryRecord): Target | undefined | Promise<Target | undefined> {
    const found = targets.find(account_id, webhook_id)
    if (!(found instanceof Promise)) return found
    return found.catch((cause: unknown) => {
      options.events?.claimFailed?.(cause)
      return undefined
    })
  }

  async function sendInSlot(
    lane: Lane,
    delivery: DeliveryRecord,
    body: Uint8Array,
    target: Sendable,
  ): Promise<void> {
    try {
      const finished = await attempt(delivery, delivery.claim ?? births, body, target)
      lanes.heard(lane, finished.attempt.error !== 'timeout')
      record(finished)
    } catch (cause) {
      // The request could not be built, since a secret cannot sign, or the sender rejected against its contract.
      options.events?.claimFailed?.(cause)
      park(lane, UNREADABLE_PARK)
      await giveBack([delivery])
    }
    freeSlot(lane)
  }

  function record(finished: FinishedAttempt, recorded?: () => void): void {
    options.events?.attempted?.(finished.attempt, finished)
    recorder.add(finished, () => {
      noteRetry(finished)
      recorded?.()
    })
  }

  function noteRetry({ after, webhook_id, account_id }: FinishedAttempt): void {
    if (after.next_at !== null) backlog.wake(lanes.get(webhook_id, account_id), after.next_at, true)
  }

  function freeSlot(lane: Lane): void {
    lanes.free(lane)
    for (const resolve of idlers.splice(0)) resolve()
    fillSlots()
    backlog.freed(lane)
  }

  function endExpecting(lane: Lane): void {
    lanes.met(lane)
    for (const resolve of idlers.splice(0)) resolve()
  }

  async function until(isReached: () => boolean): Promise<void> {
    while (!isReached()) {
      await new Promise<void>((resolve) => {
        idlers = [...idlers, resolve]
      })
    }
  }

  /** Releases deliveries unsent. A failed release is retried, until the lease expires. */
  async function giveBack(deliveries: readonly DeliveryRecord[]): Promise<void> {
    const now = clock.now()
    const claims = deliveries.map(({ id, claim }) => ({ delivery_id: id, claim: claim ?? births }))
    try {
      if (claims.length > 0) await store.release(claims, now)
      for (const delivery of deliveries) note(delivery, now)
    } catch (cause) {
      options.events?.claimFailed?.(cause)
      for (const delivery of deliveries) note(delivery, delivery.next_at ?? now)
      owe(deliveries)
    }
  }

  function owe(deliveries: readonly DeliveryRecord[]): void {
    if (owed.length === 0) clock.after(PARK, giveBackOwed)
    owed.push(...deliveries)
  }

  function giveBackOwed(): void {
    const now = clock.now()
    const held = owed.splice(0).filter(({ next_at }) => (next_at ?? 0) > now)
    if (running) void giveBack(held)
  }

  /**
   * After an outage of the store queued deliveries are claimed again: a server that crashed has lost the
   * claims that were not synced, and would give the same deliveries to others.
   */
  async function claimAnew(): Promise<void> {
    await giveBack(lanes.drain().map(({ delivery }) => delivery))
    fillSlots()
    backlog.pump()
  }

  function note(delivery: DeliveryRecord, due: Instant): void {
    const lane = lanes.get(delivery.webhook_id, delivery.account_id)
    backlog.wake(lane, due, isAgain(delivery.trigger))
  }

  return {
    reserve(target) {
      if (!running || recorder.stuck || !isActive(target) || !isSendable(target)) return undefined
      const lane = lanes.get(target.webhook.id, target.webhook.account_id)
      lanes.shape(lane, target.webhook)
      // A backlog goes first: a new delivery waits behind it. Work that is due later is no backlog: it may
      // be the lease of a send in progress.
      const now = clock.now()
      leaps.look(now)
      const isBehind = (lane.first_due ?? Infinity) <= now
      return !isBehind && lanes.expect(lane) ? births : undefined
    },
    cancel(webhookId) {
      const lane = lanes.find(webhookId)
      if (lane !== undefined) endExpecting(lane)
    },
    send(claimed) {
      const lane = lanes.get(claimed.delivery.webhook_id, claimed.delivery.account_id)
      lanes.enqueue(lane, [claimed])
      endExpecting(lane)
      fillSlots()
    },
    async sendNow(delivery, body, target) {
      if (!isSendable(target)) return giveBack([delivery])
      const claim = delivery.claim ?? births
      const finished = await attempt(delivery, claim, body, target).catch(
        async (cause: unknown) => {
          await giveBack([delivery])
          throw cause
        },
      )
      await new Promise<void>((resolve) => {
        record(finished, resolve)
      })
    },
    async start() {
      // The claims of a running dispatcher must not be recovered.
      if (running) return
      await store.recover(clock.now())
      await backlog.read()
      running = true
      backlog.start()
    },
    refresh: (webhookIds) => backlog.refresh(webhookIds),
    async stop() {
      running = false
      await backlog.stop()
      cancelTurn()
      await until(() => lanes.expected === 0)
      await giveBack(lanes.drain().map(({ delivery }) => delivery))
      await until(() => lanes.busy === 0)
      // After that the claims expire, and other processes send again what was not recorded.
      await recorder.finish(lease)
    },
  }
}

function isActive(target: Target): boolean {
  return target.webhook.status === 'active'
}

function isSendable(target: Target): target is Sendable {
  return target.secrets !== undefined
}
