import type { Instant, Millis } from '../time.ts'
import { MINUTE, SECOND } from '../time.ts'
import type { WebhookRecord } from '../webhook/record.ts'
import { createPace } from './pace.ts'
import type { ClaimedDelivery, LaneHead } from './ports.ts'
import type { Waiter } from './queue.ts'
import { createQueue } from './queue.ts'
import type { Holder } from './slots.ts'
import { createSlots, isTrusted, learnFrom } from './slots.ts'

/** One webhook's work as this process knows it. */
export interface Lane extends Holder, Waiter {
  readonly webhook_id: string
  /** When the store's earliest pending first attempt and retry are due; null when it holds none. */
  first_due: Instant | null
  retry_due: Instant | null
  /** Nothing is claimed for it before this instant. */
  parked_until: Instant
  /** Places of the queue that are held for what is being born. */
  expected: number
  /** The store is being asked about it: it stays this webhook's one lane until it learns the answer. */
  asked: boolean
}

/** The lanes of one process: who has work, who has room, whose turn it is. */
export interface Lanes {
  readonly busy: number
  /** Places that are held for what is being born. */
  readonly expected: number
  /** Deliveries that may be queued yet; below 0 when some were queued beyond. */
  readonly left: number
  get(webhookId: string, accountId: string): Lane
  find(webhookId: string): Lane | undefined
  /** Takes in what its owner set: how many sends at once, and how many a second. */
  shape(lane: Lane, webhook: Pick<WebhookRecord, 'concurrency' | 'rate_limit'>): void
  /** Whether the lane and the process have a slot free. */
  hasRoom(lane: Lane, now: Instant): boolean
  free(lane: Lane): void
  /** Holds a place of its queue for what is being born; false when there is none. */
  expect(lane: Lane): boolean
  /** Ends the holding of a place, whether it is taken now or not. */
  met(lane: Lane): void
  /** Takes in whether a send was answered in time. */
  heard(lane: Lane, answeredInTime: boolean): void
  enqueue(lane: Lane, claimed: readonly ClaimedDelivery[]): void
  /** Deliveries that may be claimed for it beyond those it holds. */
  appetite(lane: Lane): number
  /**
   * Takes the next queued delivery that has a slot free, account by account and lane by lane; undefined
   * when none has.
   */
  next(now: Instant): { lane: Lane; claimed: ClaimedDelivery } | undefined
  /** Empties the queues, for handing claims back. */
  drain(): readonly ClaimedDelivery[]
  note(lane: Lane, due: Instant, retry: boolean): void
  /** Before the store is asked anew: what is noted from here on is not lost to an older answer. */
  forget(lane: Lane): void
  /** Takes in the store's answer; undefined when it holds no work of this lane. */
  learn(lane: Lane, head: Pick<LaneHead, 'first_due' | 'retry_due'> | undefined): void
  /**
   * Lanes whose turn it is: work due and room for it, those with first attempts before those with
   * retries alone.
   *
   * While the queue is full, those alone of whom nothing is in it.
   */
  claimable(now: Instant, most: number): readonly Lane[]
  /** When the earliest work that was not due at an instant is due; null when there is none. */
  nextDue(at: Instant): Instant | null
  /** When the next of the queued deliveries that are paced may be sent; null when none waits for that. */
  nextTurn(now: Instant): Instant | null
}

export interface LaneLimits {
  /** Sends under way in the process. */
  readonly total: number
  /** Sends under way to one webhook. */
  readonly perWebhook: number
}

/** Deliveries that are claimed and wait for a slot. */
const MOST_QUEUED = 1500
/** Of large bodies fewer wait: nothing more is claimed once they have so many bytes. */
const MOST_BYTES = 67_108_864
/** How many times its own limit a webhook may hold of its backlog, so that sends never wait for a claim. */
const READ_AHEAD = 6
/** What a paced webhook may hold, so that the queue is not filled with what may not be sent yet. */
const PACED_AHEAD: Millis = SECOND
/** Parked for longer is parked by a calendar that was set back since. */
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
    // A paced lane is kept: a new one would begin its pace anew.
    if (!due && idle && !lane.pace.isLimited()) lanes.delete(lane.webhook_id)
  }

  /** Of who does not answer in time nothing is held beyond what may be under way. */
  const ahead = (lane: Lane, times: number): number =>
    Math.min((isTrusted(lane) ? times : 1) * slots.limitOf(lane), lane.pace.within(PACED_AHEAD))
  const isDue = (lane: Lane, now: Instant): boolean => (earliest(lane) ?? Infinity) <= now
  // What nobody answers would fill the queue, and wait there for a slot.
  const mayHold = (lane: Lane): boolean => isTrusted(lane) || slots.hasRoom(lane, Infinity)
  // Asked for early enough that the sends go on while a claim is under way.
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

/** A full queue is no reason to let those wait of whom nothing is in it. */
function mayQueue(lane: Lane, left: number): boolean {
  return left > 0 || (held(lane) === 0 && left > -MOST_QUEUED)
}

/** What it has of the process: under way, queued, or being born. */
function held({ busy, queue, expected }: Lane): number {
  return busy + queue.length + expected
}

/** When a lane that may not be served now may be. */
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
