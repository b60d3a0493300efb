import type { Clock } from '../../lib/engine/ports.ts'
import type { Instant, Millis } from '../../lib/time.ts'

/** A virtual clock that a test advances. */
export interface VirtualClock extends Clock {
  /**
   * Goes on by `ms`: timers that fall due run in their order, each at its own instant, and what they
   * set off comes to rest before the next.
   */
  advance(ms: Millis): Promise<void>
  /** Sets the calendar alone, forward or back: timers and the steady clock go on as they were. */
  set(ms: Millis): void
  /** Timers that are set and not canceled. */
  readonly timers: number
}

interface Timer {
  readonly at: Instant
  readonly run: () => void
}

/** One turn of the event loop, microtasks included. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/**
 * @param rest resolves when nothing is under way any more; default: a few turns of the event loop
 */
export function createClock(start: Instant, rest: () => Promise<void> = fewTurns): VirtualClock {
  let now = start
  let ahead = 0
  const timers = new Set<Timer>()

  function nextUntil(end: Instant): Timer | undefined {
    let next: Timer | undefined
    for (const timer of timers) {
      if (timer.at <= end && timer.at < (next?.at ?? Infinity)) next = timer
    }
    return next
  }

  return {
    now: () => now + ahead,
    steady: () => now - start,
    after(delay, run) {
      const timer = { at: now + Math.max(0, delay), run }
      timers.add(timer)
      return () => {
        timers.delete(timer)
      }
    },
    taken: turn,
    set(ms) {
      ahead += ms
    },
    async advance(ms) {
      const end = now + ms
      await rest()
      for (let timer = nextUntil(end); timer !== undefined; timer = nextUntil(end)) {
        timers.delete(timer)
        now = Math.max(now, timer.at)
        timer.run()
        await rest()
      }
      now = end
    },
    get timers() {
      return timers.size
    },
  }
}

async function fewTurns(): Promise<void> {
  for (let turns = 0; turns < 5; turns += 1) await turn()
}
