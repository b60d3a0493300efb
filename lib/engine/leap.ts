import type { Instant, Millis } from '../time.ts'
import { SECOND } from '../time.ts'
import type { Clock } from './ports.ts'

/** Detects that the wall clock was set forward. */
export interface Leaps {
  /** Compares the wall clock with the monotonic one. A jump there and back between two calls is not seen. */
  look(now: Instant): void
  /** Whether the clock jumped forward since the last call. */
  take(): boolean
  /** Makes the next `take` return true again, after the reaction to a jump failed. */
  putBack(): void
}

/** Maximum lead of the wall clock over the monotonic one that still counts as slewing. */
const SLEWED: Millis = SECOND / 5

export function createLeaps(clock: Pick<Clock, 'now' | 'steady'>): Leaps {
  let seen = { now: clock.now(), at: clock.steady() }
  let leapt = false
  return {
    look(now) {
      const at = clock.steady()
      if (now - seen.now > at - seen.at + SLEWED) leapt = true
      seen = { now, at }
    },
    take() {
      const taken = leapt
      leapt = false
      return taken
    },
    putBack() {
      leapt = true
    },
  }
}
