import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import { LEAST_PACE, MAX_WAIT } from '../limits/amounts.ts'
import type { ListNode } from '../limits/linked-list.ts'
import { LinkedList } from '../limits/linked-list.ts'

/** Interval between checks of transfers. */
export const LOOK_EVERY: Millis = 5 * SECOND

/** Progress of a watched transfer. */
export interface Pace {
  /** Bytes were received or sent. */
  moved(bytes: number): void
  /** Stops watching. */
  stop(): void
}

export interface PaceOptions {
  readonly clock: Pick<Clock, 'after' | 'steady'>
  /** Minimum bytes per second. Default 1 KiB. */
  readonly least?: number
  /** Default 30 seconds. */
  readonly maxWait?: Millis
  /** Whether the transfer waits for the peer; time that this process takes does not count. */
  isWaiting(): boolean
  /** Called once, when the peer is too slow. */
  tooSlow(): void
}

/** The time that a transfer may lag: waiting spends it, and moved bytes refill it up to its initial value. */
export interface PaceBudget {
  moved(bytes: number): void
  /** False once it is used up. */
  waited(time: Millis): boolean
}

/**
 * @param least bytes that earn one second
 */
export function createPaceBudget(
  maxWait: Millis = MAX_WAIT,
  least: number = LEAST_PACE,
): PaceBudget {
  let left = maxWait
  return {
    moved(bytes) {
      left = Math.min(maxWait, left + (bytes * SECOND) / least)
    },
    waited(time) {
      left -= time
      return left >= 0
    },
  }
}

/** Watches for a minimum rate: a peer that moves a byte now and then would hold its lease forever. */
export function watchPace({ clock, least, maxWait, isWaiting, tooSlow }: PaceOptions): Pace {
  const { moved, waited } = createPaceBudget(maxWait, least)
  let looked = clock.steady()
  let cancel = clock.after(LOOK_EVERY, look)

  function look(): void {
    const now = clock.steady()
    const isFine = !isWaiting() || waited(now - looked)
    looked = now
    if (isFine) cancel = clock.after(LOOK_EVERY, look)
    else tooSlow()
  }

  return {
    moved,
    stop() {
      cancel()
    },
  }
}

const slowSockets = new WeakSet<object>()

/**
 * Exempts the request on a socket from the server's time limit until the returned function is called. The
 * reader of such a request has limits of its own.
 */
export function allowLong(socket: object): () => void {
  slowSockets.add(socket)
  return () => {
    slowSockets.delete(socket)
  }
}

export function mayTakeLong(socket: object): boolean {
  return slowSockets.has(socket)
}

/** An entry that is checked at intervals. */
export interface Swept {
  /**
   * @param now time of the steady clock
   */
  look(now: Millis): void
}

/** One timer for everything in progress: a timer per request would be expensive. */
export interface Sweep {
  add(item: Swept): ListNode<Swept>
  /** Removes an entry; idempotent. */
  remove(node: ListNode<Swept>): void
}

/** Checks every entry that was added and not removed, at the interval. */
export function createSweep(clock: Pick<Clock, 'after' | 'steady'>, every: Millis): Sweep {
  const items = new LinkedList<Swept>()
  let isArmed = false

  function arm(): void {
    if (isArmed || items.isEmpty) return
    isArmed = true
    clock.after(every, look, 'background')
  }

  function look(): void {
    isArmed = false
    const now = clock.steady()
    for (const item of items) item.look(now)
    arm()
  }

  return {
    add(item) {
      const node = items.add(item)
      arm()
      return node
    },
    remove(node) {
      items.remove(node)
    },
  }
}
