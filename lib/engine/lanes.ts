import type { Instant, Millis } from '../time.ts'
import { MINUTE, SECOND } from '../time.ts'
import type { WebhookRecord } from '../webhook/record.ts'
import { createPace } from './pace.ts'
import type { ClaimedDelivery, LaneHead } from './ports.ts'
import type { Waiter } from './queue.ts'
import { createQueue } from './queue.ts'
import type { Holder } from './slots.ts'
import { createSlots, isTrusted, learnFrom } from './slots.ts'

/** The queue of one webhook, as this process knows it. */
export interface Lane extends Holder, Waiter {
  readonly webhook_id: string
  /** Due times of the earliest pending first attempt and retry in the store; null when there is none. */
  first_due: Instant | null
  retry_due: Instant | null
  /** Nothing is claimed before this instant. */
  parked_until: Instant
  /** Capacity that is reserved for deliveries being published. */
  expected: number
  /** Its head is being read from the store: the queue must stay the only one of its webhook until then. */
  asked: boolean
}

/** The webhook queues of one process: their due work, capacity and order. */
export interface Lanes {
  readonly busy: number
  /** Capacity that is reserved for deliveries being published. */
  readonly expected: number
  /** Deliveries that may still be queued; negative when some were queued beyond the limit. */
  readonly left: number
  get(webhookId: string, accountId: string): Lane
  find(webhookId: string): Lane | undefined
  /** Applies the webhook's limits of concurrency and rate. */
  shape(lane: Lane, webhook: Pick<WebhookRecord, 'concurrency' | 'rate_limit'>): void
  /** Whether the webhook and the process have a free slot. */
  hasRoom(lane: Lane, now: Instant): boolean
  free(lane: Lane): void
  /** Reserves capacity for a delivery that is being published; false when there is none. */
  expect(lane: Lane): boolean
  /** Ends a reservation, whether the delivery was queued or not. */
  met(lane: Lane): void
  /** Records whether a send was answered in time. */
  heard(lane: Lane, answeredInTime: boolean): void
  enqueue(lane: Lane, claimed: readonly ClaimedDelivery[]): void
  /** Deliveries that may be claimed in addition to those it has. */
  appetite(lane: Lane): number
  /**
   * Removes the next queued delivery that has a free slot and takes the slot, round robin by account, then
   * by webhook; undefined when there is none.
   */
  next(now: Instant): { lane: Lane; claimed: ClaimedDelivery } | undefined
  /** Removes all queued deliveries, so that their claims can be released. */
  drain(): readonly ClaimedDelivery[]
  note(lane: Lane, due: Instant, retry: boolean): void
  /** Clears the due times before the head is read, so that work added meanwhile is not lost to an older result. */
  forget(lane: Lane): void
  /** Merges the head that the store returned; undefined when the store has no work of this webhook. */
  learn(lane: Lane, head: Pick<LaneHead, 'first_due' | 'retry_due'> | undefined): void
  /**
   * The next queues with due work and capacity, those with first attempts before those with only retries.
   *
   * A full process must not block a webhook that has nothing queued: such queues are returned even then.
   */
  claimable(now: Instant, most: number): readonly Lane[]
  /** The earliest due time after an instant; null when there is none. */
  nextDue(at: Instant): Instant | null
  /** When the rate limit permits the next queued delivery; null when none waits for it. */
  nextTurn(now: Instant): Instant | null
}

export interface LaneLimits {
  /** Maximum concurrent sends of the process. */
  readonly total: number
  /** Maximum concurrent sends to one webhook. */
  readonly perWebhook: number
}

/** Maximum claimed deliveries that wait for a slot. */
const MOST_QUEUED = 1500
/** Bytes of queued bodies from which on nothing more is claimed. */
const MOST_BYTES = 67_108_864
/** A webhook may have this many times its concurrency claimed, so that sends never wait for a claim. */
const READ_AHEAD = 6
/** A rate-limited webhook may have the deliveries of this span claimed, so that they do not fill the queue. */
const PACED_AHEAD: Millis = SECOND
/** Maximum pause of a webhook. A longer one means that the wall clock was set back. */
export const LONGEST_PARK: Millis = MINUTE

export function createLanes(limits: LaneLimits): Lanes {
  const lanes = new Map<string, Lane>()
  const slots = createSlots(limits.total)
  const queue = createQueue<Lane>()
  const pending = new Set<Lane>()
  const paced = new Set<Lane>()
  let expected = 0

  function refile(lane: Lane): void {
    const due = lane.first_due !== null || lane.retry_due !== null
    if (due) pending.add(lane)
    else pending.delete(lane)
    const idle = held(lane) === 0 && !lane.asked
    // A rate-limited queue is kept: a new one would restart its rate.
    if (!due && idle && !lane.pace.isLimited()) lanes.delete(lane.webhook_id)
  }

  /** A webhook that timed out gets nothing beyond what may be in progress. */
  const ahead = (lane: Lane, times: number): number =>
    Math.min((isTrusted(lane) ? times : 1) * slots.limitOf(lane), lane.pace.within(PACED_AHEAD))
  const isDue = (lane: Lane, now: Instant): boolean => (earliest(lane) ?? Infinity) <= now
  // Deliveries of an unresponsive webhook would fill the process while they wait for a slot.
  const mayHold = (lane: Lane): boolean => isTrusted(lane) || slots.hasRoom(lane, Infinity)
  // Early enough that sends continue during the claim.
  const isHungry = (lane: Lane): boolean => held(lane) < ahead(lane, READ_AHEAD / 2)
  const appetite = (lane: Lane): number => ahead(lane, READ_AHEAD) - held(lane)
  const left = (): number => {
    const places = MOST_QUEUED - queue.size - expected
    return queue.bytes < MOST_BYTES ? places : Math.min(0, places)
  }

  return {
    get busy() {
      return slots.busy
    },
    get expected() {
      return expected
    },
    get left() {
      return left()
    },
    get(webhookId, accountId) {
      const known = lanes.get(webhookId)
      if (known !== undefined) return known
      const lane = newLane(webhookId, accountId, limits.perWebhook)
      lanes.set(webhookId, lane)
      return lane
    },
    find: (webhookId) => lanes.get(webhookId),
    shape(lane, { concurrency, rate_limit }) {
      lane.room = Math.min(limits.perWebhook, concurrency ?? limits.perWebhook)
      lane.pace.set(rate_limit)
      if (lane.pace.isLimited()) paced.add(lane)
      else paced.delete(lane)
    },
    hasRoom: (lane, now) => slots.hasRoom(lane, now),
    free(lane) {
      slots.free(lane)
      refile(lane)
    },
    expect(lane) {
      if (!mayQueue(lane, left()) || appetite(lane) <= 0) return false
      lane.expected++
      expected++
      return true
    },
    met(lane) {
      lane.expected--
      expected--
      refile(lane)
    },
    heard: learnFrom,
    enqueue: queue.add,
    appetite,
    next(now) {
      if (slots.busy >= limits.total) return undefined
      const next = queue.next((lane) => slots.hasRoom(lane, now))
      if (next !== undefined) slots.take(next.lane, now)
      return next
    },
    drain: queue.drain,
    note(lane, due, retry) {
      if (retry) lane.retry_due = sooner(lane.retry_due, due)
      else lane.first_due = sooner(lane.first_due, due)
      pending.add(lane)
    },
    forget(lane) {
      lane.first_due = null
      lane.retry_due = null
      lane.asked = true
    },
    learn(lane, head) {
      lane.asked = false
      lane.first_due = sooner(lane.first_due, head?.first_due ?? null)
      lane.retry_due = sooner(lane.retry_due, head?.retry_due ?? null)
      refile(lane)
    },
    claimable(now, most) {
      const room = left()
      const isClaimable = (lane: Lane): boolean =>
        isDue(lane, now) &&
        restsUntil(lane, now) <= now &&
        isHungry(lane) &&
        mayHold(lane) &&
        mayQueue(lane, room)
      const due = [...pending].filter(isClaimable)
      const hasFirst = (lane: Lane): boolean => (lane.first_due ?? Infinity) <= now
      const turn = [...due.filter(hasFirst), ...due.filter((lane) => !hasFirst(lane))].slice(
        0,
        most,
      )
      for (const lane of turn) {
        pending.delete(lane)
        pending.add(lane)
      }
      return turn
    },
    nextDue(looked) {
      let next: Instant | null = null
      for (const lane of pending) {
        const at = Math.max(earliest(lane) ?? Infinity, restsUntil(lane, looked))
        if (at > looked && at < (next ?? Infinity)) next = at
      }
      return next
    },
    nextTurn(now) {
      let next: Instant | null = null
      for (const { pace, queue } of paced) {
        const at = pace.readyAt(now)
        if (queue.length > 0 && at > now && at < (next ?? Infinity)) next = at
      }
      return next
    },
  }
}

/** A full process must not block a webhook that has nothing queued. */
function mayQueue(lane: Lane, left: number): boolean {
  return left > 0 || (held(lane) === 0 && left > -MOST_QUEUED)
}

/** Deliveries of a webhook in this process: in progress, queued and reserved. */
function held({ busy, queue, expected }: Lane): number {
  return busy + queue.length + expected
}

/** When a paused or rate-limited queue may be served. */
const restsUntil = ({ parked_until, pace }: Lane, now: Instant): Instant =>
  Math.max(parked_until > now + LONGEST_PARK ? 0 : parked_until, pace.readyAt(now))

const earliest = (lane: Lane): Instant | null => sooner(lane.first_due, lane.retry_due)

function sooner(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}

function newLane(webhookId: string, accountId: string, room: number): Lane {
  return {
    webhook_id: webhookId,
    account_id: accountId,
    busy: 0,
    queue: [],
    first_due: null,
    retry_due: null,
    parked_until: 0,
    room,
    trusted: Infinity,
    pace: createPace(),
    expected: 0,
    asked: false,
  }
}
