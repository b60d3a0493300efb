import { isRepeat } from '../delivery/state.ts'
import type { Instant, Millis } from '../time.ts'
import { SECOND } from '../time.ts'
import type { FinishedAttempt, MakeAttempt } from './attempt.ts'
import { createBacklog } from './backlog.ts'
import type { WorkAvailable } from './enqueue.ts'
import type { SendDelays, SendLimits, WebhookQueue } from './webhook-queues.ts'
import { MAX_PAUSE, createWebhookQueues } from './webhook-queues.ts'
import { createClockJumps } from './clock-jumps.ts'
import type { Handover } from './outbox.ts'
import type { ClaimedDelivery, Clock, DeliveryRecord, EngineEvents, EngineStore } from './ports.ts'
import type { Recorder } from './recorder.ts'
import type { Signal } from './signal.ts'
import type { DecryptedSecret, Target, Targets } from './targets.ts'

/** Sends due deliveries: new ones from memory, a backlog from the store. */
export interface Dispatcher extends Handover {
  /** Releases claims of ended processes and starts sending. */
  start(): Promise<void>
  /** What delays sends to a webhook in this process; undefined when it knows of no work for it. */
  delaysOf(webhookId: string): SendDelays | undefined
  /** Deliveries that this process has claimed: sends in progress, and those that wait for a slot. */
  readonly claimed: { readonly sending: number; readonly queued: number }
  /** Whether nothing is being claimed, sent or recorded. */
  readonly isIdle: boolean
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
    'recover' | 'queueHeads' | 'claim' | 'release' | 'disclaim' | 'announce'
  >
  readonly targets: Pick<Targets, 'find'>
  readonly attempt: MakeAttempt
  readonly recorder: Recorder
  readonly recovered: Signal<void>
  readonly workAvailable: Signal<WorkAvailable>
  readonly clock: Clock
  readonly limits: SendLimits
  /** Maximum duration of an attempt. A send starts only when its lease outlasts it. */
  readonly timeout: Millis
  readonly lease: Millis
  /** Creates a unique fencing token for a claim. */
  readonly newClaim: () => string
  readonly events?: Partial<EngineEvents>
}

type Sendable = Target & { readonly secrets: readonly DecryptedSecret[] }

/** Pause of a webhook that cannot be sent to, which prevents a busy loop of claims and releases. */
const PAUSE: Millis = SECOND
/** Pause of a webhook that cannot be signed for, such as with an unreadable secret: the operator must act. */
const UNREADABLE_PAUSE: Millis = MAX_PAUSE
/** Upper bound of the wait for a rate limit, so that a change of the wall clock is noticed. */
const MAX_PACED_SLEEP: Millis = SECOND

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { store, targets, attempt, recorder, clock, limits, timeout, lease, newClaim } = options
  const queues = createWebhookQueues(limits)
  const freshClaim = newClaim()
  const clockJumps = createClockJumps(clock)
  let running = false
  let cancelPacing = (): void => undefined
  let waiters: (() => void)[] = []
  /** Claimed deliveries whose release failed and is retried. */
  const pendingRelease: DeliveryRecord[] = []

  const backlog = createBacklog({
    store,
    targets,
    queues,
    recorder,
    clock,
    clockJumps,
    lease,
    newClaim,
    queued: fillSlots,
    ...(options.events && { events: options.events }),
  })

  options.recovered.listen(() => {
    void reclaim()
  })
  options.workAvailable.listen(({ webhook_id, account_id, due }) => {
    const queue = queues.get(webhook_id, account_id)
    // Another process may take what this one does not take at once.
    if (due <= clock.now() && !(running && queues.hasFreeSlot(queue, due)))
      store.announce?.([webhook_id])
    backlog.notify(queue, due, false)
  })

  function fillSlots(): void {
    if (!running || recorder.backpressure) return
    const now = clock.now()
    for (let next = queues.next(now); next !== undefined; next = queues.next(now)) {
      void sendClaimed(next.queue, next.claimed)
    }
    cancelPacing()
    const pacedAt = queues.nextPaced(now)
    if (pacedAt !== null)
      cancelPacing = clock.after(Math.min(pacedAt - now, MAX_PACED_SLEEP), fillSlots)
  }

  async function sendClaimed(queue: WebhookQueue, claimed: ClaimedDelivery): Promise<void> {
    const { delivery } = claimed
    const found = findTarget(delivery)
    const target = found instanceof Promise ? await found : found
    // Changed limits apply from the next send on, also to queued deliveries.
    if (target !== undefined) queues.configure(queue, target.webhook)
    const hasLease = (delivery.next_at ?? 0) - clock.now() >= timeout
    if (target === undefined || !isActive(target)) pause(queue, PAUSE)
    else if (!isSendable(target)) pause(queue, UNREADABLE_PAUSE)
    else if (hasLease && running) return sendInSlot(queue, claimed, target)
    queue.pace.refund()
    await releaseUnsent([delivery])
    freeSlot(queue)
  }

  function pause(queue: WebhookQueue, duration: Millis): void {
    queue.paused_until = clock.now() + duration
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
    queue: WebhookQueue,
    { delivery, body, traceparent }: ClaimedDelivery,
    target: Sendable,
  ): Promise<void> {
    try {
      const claim = delivery.claim ?? freshClaim
      const finished = await attempt(delivery, claim, body, target, traceparent)
      queues.recordResponse(queue, finished.attempt.error !== 'timeout')
      record(finished)
    } catch (cause) {
      // The request could not be built, since a secret cannot sign, or the sender rejected against its contract.
      options.events?.claimFailed?.(cause)
      pause(queue, UNREADABLE_PAUSE)
      await releaseUnsent([delivery])
    }
    freeSlot(queue)
  }

  function record(finished: FinishedAttempt, recorded?: () => void): void {
    options.events?.attempted?.(finished.attempt, finished)
    recorder.add(finished, () => {
      addRetry(finished)
      recorded?.()
    })
  }

  function addRetry({ after, webhook_id, account_id }: FinishedAttempt): void {
    if (after.next_at !== null)
      backlog.notify(queues.get(webhook_id, account_id), after.next_at, true)
  }

  function freeSlot(queue: WebhookQueue): void {
    queues.free(queue)
    for (const resolve of waiters.splice(0)) resolve()
    fillSlots()
    backlog.slotFreed(queue)
  }

  function releaseReservation(queue: WebhookQueue): void {
    queues.releaseReservation(queue)
    for (const resolve of waiters.splice(0)) resolve()
  }

  async function until(isReached: () => boolean): Promise<void> {
    while (!isReached()) {
      await new Promise<void>((resolve) => {
        waiters = [...waiters, resolve]
      })
    }
  }

  /** Releases deliveries unsent. A failed release is retried, until the lease expires. */
  async function releaseUnsent(deliveries: readonly DeliveryRecord[]): Promise<void> {
    const now = clock.now()
    const claims = deliveries.map(({ id, claim }) => ({
      delivery_id: id,
      claim: claim ?? freshClaim,
    }))
    try {
      if (claims.length > 0) await store.release(claims, now)
      for (const delivery of deliveries) addDue(delivery, now)
    } catch (cause) {
      options.events?.claimFailed?.(cause)
      for (const delivery of deliveries) addDue(delivery, delivery.next_at ?? now)
      retryRelease(deliveries)
    }
  }

  function retryRelease(deliveries: readonly DeliveryRecord[]): void {
    if (pendingRelease.length === 0) clock.after(PAUSE, releasePending)
    pendingRelease.push(...deliveries)
  }

  function releasePending(): void {
    const now = clock.now()
    const held = pendingRelease.splice(0).filter(({ next_at }) => (next_at ?? 0) > now)
    if (running) void releaseUnsent(held)
  }

  /**
   * After an outage of the store queued deliveries are claimed again: a server that crashed has lost the
   * claims that were not synced, and would give the same deliveries to others.
   */
  async function reclaim(): Promise<void> {
    await releaseUnsent(queues.drain().map(({ delivery }) => delivery))
    fillSlots()
    backlog.pump()
  }

  function addDue(delivery: DeliveryRecord, due: Instant): void {
    const queue = queues.get(delivery.webhook_id, delivery.account_id)
    backlog.notify(queue, due, isRepeat(delivery.trigger))
  }

  return {
    reserve(target) {
      if (!running || recorder.backpressure || !isActive(target) || !isSendable(target))
        return undefined
      const queue = queues.get(target.webhook.id, target.webhook.account_id)
      queues.configure(queue, target.webhook)
      // A backlog goes first: a new delivery waits behind it. Work that is due later is no backlog: it may
      // be the lease of a send in progress.
      const now = clock.now()
      clockJumps.observe(now)
      const isBehind = (queue.first_due ?? Infinity) <= now
      return !isBehind && queues.reserve(queue) ? freshClaim : undefined
    },
    cancel(webhookId) {
      const queue = queues.find(webhookId)
      if (queue !== undefined) releaseReservation(queue)
    },
    send(claimed) {
      const queue = queues.get(claimed.delivery.webhook_id, claimed.delivery.account_id)
      queues.enqueue(queue, [claimed])
      releaseReservation(queue)
      fillSlots()
    },
    async sendNow(delivery, body, target) {
      if (!isSendable(target)) return releaseUnsent([delivery])
      const claim = delivery.claim ?? freshClaim
      const finished = await attempt(delivery, claim, body, target).catch(
        async (cause: unknown) => {
          await releaseUnsent([delivery])
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
    get claimed() {
      return { sending: queues.busy, queued: queues.queued }
    },
    get isIdle() {
      const claimed = queues.busy + queues.queued + queues.reserved
      return claimed === 0 && backlog.isIdle && recorder.isIdle
    },
    delaysOf: (webhookId) => queues.delaysOf(webhookId, clock.now()),
    refresh: (webhookIds) => backlog.refresh(webhookIds),
    async stop() {
      running = false
      await backlog.stop()
      cancelPacing()
      await until(() => queues.reserved === 0)
      await releaseUnsent(queues.drain().map(({ delivery }) => delivery))
      await until(() => queues.busy === 0)
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
