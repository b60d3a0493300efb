import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import { LEAST_PACE, MAX_WAIT } from '../limits/amounts.ts'

/** How often transfers are looked at. */
export const LOOK_EVERY: Millis = 5 * SECOND

/** What a transfer that is watched tells. */
export interface Pace {
  /** Bytes have come, or gone. */
  moved(bytes: number): void
  /** Watches no more. */
  stop(): void
}

export interface PaceOptions {
  readonly clock: Pick<Clock, 'after' | 'steady'>
  /** In bytes a second; default 1 KiB. */
  readonly least?: number
  /** Default 30 seconds. */
  readonly maxWait?: Millis
  /** Whether it is the other side that is waited for; what we hold up is not held against it. */
  isWaiting(): boolean
  /** Called once, when the other side is too far behind. */
  tooSlow(): void
}

/** The time that a transfer may be behind: waiting spends it, and bytes moved refill it up to its start. */
export interface PaceBudget {
  moved(bytes: number): void
  /** False once it is used up. */
  waited(time: Millis): boolean
}

/** @param least bytes that earn a second */
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

/** Watches that a transfer does not crawl: who moves a byte now and then would hold its place for ever. */
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
 * Lets the request on a socket take longer than the server's limit of time, until the answer is called.
 * Whoever reads it has limits of their own.
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

/** What is looked at now and then. */
export interface Swept {
  /** @param now by the steady clock */
  look(now: Millis): void
}

/** One timer for all that is in progress: a timer of its own would cost every request. */
export interface Sweep {
  add(item: Swept): void
  delete(item: Swept): void
}

/** Looks at everything that was added, and not yet deleted, every so often. */
export function createSweep(clock: Pick<Clock, 'after' | 'steady'>, every: Millis): Sweep {
  const items = new Set<Swept>()
  let isArmed = false

  function arm(): void {
    if (isArmed || items.size === 0) return
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
      items.add(item)
      arm()
    },
    delete(item) {
      items.delete(item)
    },
  }
}
