import type { Instant, Millis } from '../time.ts'
import { SECOND } from '../time.ts'
import type { Clock } from './ports.ts'

/** Detects that the wall clock was set forward. */
export interface ClockJumps {
  /** Compares the wall clock with the monotonic one. A jump there and back between two calls is not seen. */
  observe(now: Instant): void
  /** Whether the clock jumped forward since the last call. */
  take(): boolean
  /** Makes the next `take` return true again, after the reaction to a jump failed. */
  restore(): void
}

/** Maximum lead of the wall clock over the monotonic one that still counts as slewing. */
const MAX_SLEW: Millis = SECOND / 5

export function createClockJumps(clock: Pick<Clock, 'now' | 'steady'>): ClockJumps {
  let seen = { now: clock.now(), at: clock.steady() }
  let jumped = false
  return {
    observe(now) {
      const at = clock.steady()
      if (now - seen.now > at - seen.at + MAX_SLEW) jumped = true
      seen = { now, at }
    },
    take() {
      const taken = jumped
      jumped = false
      return taken
    },
    restore() {
      jumped = true
    },
  }
}
