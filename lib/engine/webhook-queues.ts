import type { Instant, Millis } from '../time.ts'
import { MINUTE, SECOND } from '../time.ts'
import type { WebhookRecord } from '../webhook/record.ts'
import { createPace } from './pace.ts'
import type { ClaimedDelivery, QueueHead } from './ports.ts'
import type { QueueMember } from './round-robin-queue.ts'
import { createRoundRobinQueue } from './round-robin-queue.ts'
import type { SlotHolder } from './slots.ts'
import { createSlots, isResponsive, recordResponse } from './slots.ts'

/** The queue of one webhook, as this process knows it. */
export interface WebhookQueue extends SlotHolder, QueueMember {
  readonly webhook_id: string
  /** Due times of the earliest pending first attempt and retry in the store; null when there is none. */
  first_due: Instant | null
  retry_due: Instant | null
  /** Nothing is claimed before this instant. */
  paused_until: Instant
  /** Capacity that is reserved for deliveries being published. */
  reserved: number
  /** Its head is being read from the store: the queue must stay the only one of its webhook until then. */
  loading: boolean
}

/** The webhook queues of one process: their due work, capacity and order. */
export interface WebhookQueues {
  readonly busy: number
  /** Claimed deliveries that wait for a slot. */
  readonly queued: number
  /** Capacity that is reserved for deliveries being published. */
  readonly reserved: number
  /** Deliveries that may still be queued; negative when some were queued beyond the limit. */
  readonly capacity: number
  get(webhookId: string, accountId: string): WebhookQueue
  find(webhookId: string): WebhookQueue | undefined
  /** What delays sends to a webhook; undefined when it has no queue. */
  delaysOf(webhookId: string, now: Instant): SendDelays | undefined
  /** Applies the webhook's limits of concurrency and rate. */
  configure(queue: WebhookQueue, webhook: Pick<WebhookRecord, 'concurrency' | 'rate_limit'>): void
  /** Whether the webhook and the process have a free slot. */
  hasFreeSlot(queue: WebhookQueue, now: Instant): boolean
  free(queue: WebhookQueue): void
  /** Reserves capacity for a delivery that is being published; false when there is none. */
  reserve(queue: WebhookQueue): boolean
  /** Ends a reservation, whether the delivery was queued or not. */
  releaseReservation(queue: WebhookQueue): void
  /** Records whether a send was answered in time. */
  recordResponse(queue: WebhookQueue, answeredInTime: boolean): void
  enqueue(queue: WebhookQueue, claimed: readonly ClaimedDelivery[]): void
  /** Deliveries that may be claimed in addition to those it has. */
  prefetchBudget(queue: WebhookQueue): number
  /**
   * Removes the next queued delivery that has a free slot and takes the slot, round robin by account, then
   * by webhook; undefined when there is none.
   */
  next(now: Instant): { queue: WebhookQueue; claimed: ClaimedDelivery } | undefined
  /** Removes all queued deliveries, so that their claims can be released. */
  drain(): readonly ClaimedDelivery[]
  addDue(queue: WebhookQueue, due: Instant, retry: boolean): void
  /** Clears the due times before the head is read, so that work added meanwhile is not lost to an older result. */
  startLoading(queue: WebhookQueue): void
  /** Merges the head that the store returned; undefined when the store has no work of this webhook. */
  recordHead(
    queue: WebhookQueue,
    head: Pick<QueueHead, 'first_due' | 'retry_due'> | undefined,
  ): void
  /**
   * The next queues with due work and capacity, those with first attempts before those with only retries.
   *
   * A full process must not block a webhook that has nothing queued: such queues are returned even then.
   */
  claimable(now: Instant, limit: number): readonly WebhookQueue[]
  /** The earliest due time after an instant; null when there is none. */
  nextDue(after: Instant): Instant | null
  /** When the rate limit permits the next queued delivery; null when none waits for it. */
  nextPaced(now: Instant): Instant | null
}

/** What delays sends to one webhook. */
export interface SendDelays {
  /** End of a pause after a send that could not be made; null without one. */
  readonly paused_until: Instant | null
  /** When the rate limit permits the next send; null when it does now. */
  readonly rate_limited_until: Instant | null
  /** Sends in progress, and their maximum. */
  readonly busy: number
  readonly concurrency: number
}

export interface SendLimits {
  /** Maximum concurrent sends of the process. */
  readonly total: number
  /** Maximum concurrent sends to one webhook. */
  readonly perWebhook: number
}

/** Maximum claimed deliveries that wait for a slot. */
const MAX_QUEUED = 1500
/** Bytes of queued bodies from which on nothing more is claimed. */
const MAX_QUEUED_BYTES = 67_108_864
/** A webhook may have this many times its concurrency claimed, so that sends never wait for a claim. */
const PREFETCH = 6
/** A rate-limited webhook may have the deliveries of this span claimed, so that they do not fill the queue. */
const PACED_PREFETCH: Millis = SECOND
/** Maximum pause of a webhook. A longer one means that the wall clock was set back. */
export const MAX_PAUSE: Millis = MINUTE

export function createWebhookQueues(limits: SendLimits): WebhookQueues {
  const queues = new Map<string, WebhookQueue>()
  const slots = createSlots(limits.total)
  const claimedQueue = createRoundRobinQueue<WebhookQueue>()
  const pending = new Set<WebhookQueue>()
  const paced = new Set<WebhookQueue>()
  let reserved = 0

  function update(queue: WebhookQueue): void {
    const due = queue.first_due !== null || queue.retry_due !== null
    if (due) pending.add(queue)
    else pending.delete(queue)
    const idle = held(queue) === 0 && !queue.loading
    // A rate-limited queue is kept: a new one would restart its rate.
    if (!due && idle && !queue.pace.isLimited()) queues.delete(queue.webhook_id)
  }

  /** A webhook that timed out gets nothing beyond what may be in progress. */
  const prefetchLimit = (queue: WebhookQueue, times: number): number =>
    Math.min(
      (isResponsive(queue) ? times : 1) * slots.limitOf(queue),
      queue.pace.within(PACED_PREFETCH),
    )
  const isDue = (queue: WebhookQueue, now: Instant): boolean => (earliest(queue) ?? Infinity) <= now
  // Deliveries of an unresponsive webhook would fill the process while they wait for a slot.
  const mayClaim = (queue: WebhookQueue): boolean =>
    isResponsive(queue) || slots.hasFreeSlot(queue, Infinity)
  // Early enough that sends continue during the claim.
  const needsPrefetch = (queue: WebhookQueue): boolean =>
    held(queue) < prefetchLimit(queue, PREFETCH / 2)
  const prefetchBudget = (queue: WebhookQueue): number =>
    prefetchLimit(queue, PREFETCH) - held(queue)
  const capacity = (): number => {
    const free = MAX_QUEUED - claimedQueue.size - reserved
    return claimedQueue.bytes < MAX_QUEUED_BYTES ? free : Math.min(0, free)
  }

  return {
    get busy() {
      return slots.busy
    },
    get queued() {
      return claimedQueue.size
    },
    get reserved() {
      return reserved
    },
    get capacity() {
      return capacity()
    },
    get(webhookId, accountId) {
      const known = queues.get(webhookId)
      if (known !== undefined) return known
      const queue = createQueue(webhookId, accountId, limits.perWebhook)
      queues.set(webhookId, queue)
      return queue
    },
    find: (webhookId) => queues.get(webhookId),
    delaysOf(webhookId, now) {
      const queue = queues.get(webhookId)
      if (queue === undefined) return undefined
      const later = (at: Instant): Instant | null => (at > now ? at : null)
      const { paused_until, pace, busy } = queue
      return {
        paused_until: paused_until > now + MAX_PAUSE ? null : later(paused_until),
        rate_limited_until: later(pace.readyAt(now)),
        busy,
        concurrency: slots.limitOf(queue),
      }
    },
    configure(queue, { concurrency, rate_limit }) {
      queue.concurrency = Math.min(limits.perWebhook, concurrency ?? limits.perWebhook)
      queue.pace.set(rate_limit)
      if (queue.pace.isLimited()) paced.add(queue)
      else paced.delete(queue)
    },
    hasFreeSlot: (queue, now) => slots.hasFreeSlot(queue, now),
    free(queue) {
      slots.free(queue)
      update(queue)
    },
    reserve(queue) {
      if (!mayQueue(queue, capacity()) || prefetchBudget(queue) <= 0) return false
      queue.reserved++
      reserved++
      return true
    },
    releaseReservation(queue) {
      queue.reserved--
      reserved--
      update(queue)
    },
    recordResponse,
    enqueue: claimedQueue.add,
    prefetchBudget,
    next(now) {
      if (slots.busy >= limits.total) return undefined
      const next = claimedQueue.next((queue) => slots.hasFreeSlot(queue, now))
      if (next !== undefined) slots.take(next.queue, now)
      return next
    },
    drain: claimedQueue.drain,
    addDue(queue, due, retry) {
      if (retry) queue.retry_due = earlier(queue.retry_due, due)
      else queue.first_due = earlier(queue.first_due, due)
      pending.add(queue)
    },
    startLoading(queue) {
      queue.first_due = null
      queue.retry_due = null
      queue.loading = true
    },
    recordHead(queue, head) {
      queue.loading = false
      queue.first_due = earlier(queue.first_due, head?.first_due ?? null)
      queue.retry_due = earlier(queue.retry_due, head?.retry_due ?? null)
      update(queue)
    },
    claimable(now, limit) {
      const available = capacity()
      const isClaimable = (queue: WebhookQueue): boolean =>
        isDue(queue, now) &&
        pausedUntil(queue, now) <= now &&
        needsPrefetch(queue) &&
        mayClaim(queue) &&
        mayQueue(queue, available)
      const due = [...pending].filter(isClaimable)
      const hasFirst = (queue: WebhookQueue): boolean => (queue.first_due ?? Infinity) <= now
      const selected = [...due.filter(hasFirst), ...due.filter((queue) => !hasFirst(queue))].slice(
        0,
        limit,
      )
      for (const queue of selected) {
        pending.delete(queue)
        pending.add(queue)
      }
      return selected
    },
    nextDue(after) {
      let next: Instant | null = null
      for (const queue of pending) {
        const at = Math.max(earliest(queue) ?? Infinity, pausedUntil(queue, after))
        if (at > after && at < (next ?? Infinity)) next = at
      }
      return next
    },
    nextPaced(now) {
      let next: Instant | null = null
      for (const { pace, waiting } of paced) {
        const at = pace.readyAt(now)
        if (waiting.length > 0 && at > now && at < (next ?? Infinity)) next = at
      }
      return next
    },
  }
}

/** A full process must not block a webhook that has nothing queued. */
function mayQueue(queue: WebhookQueue, capacity: number): boolean {
  return capacity > 0 || (held(queue) === 0 && capacity > -MAX_QUEUED)
}

/** Deliveries of a webhook in this process: in progress, queued and reserved. */
function held({ busy, waiting, reserved }: WebhookQueue): number {
  return busy + waiting.length + reserved
}

/** When a paused or rate-limited queue may be served. */
const pausedUntil = ({ paused_until, pace }: WebhookQueue, now: Instant): Instant =>
  Math.max(paused_until > now + MAX_PAUSE ? 0 : paused_until, pace.readyAt(now))

const earliest = (queue: WebhookQueue): Instant | null => earlier(queue.first_due, queue.retry_due)

function earlier(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}

function createQueue(webhookId: string, accountId: string, concurrency: number): WebhookQueue {
  return {
    webhook_id: webhookId,
    account_id: accountId,
    busy: 0,
    waiting: [],
    first_due: null,
    retry_due: null,
    paused_until: 0,
    concurrency,
    adaptive_limit: Infinity,
    pace: createPace(),
    reserved: 0,
    loading: false,
  }
}
