import type { Instant, Millis } from '../time.ts'
import { SECOND } from '../time.ts'
import type { Clock } from './ports.ts'

/** Whether the calendar was set forward. */
export interface Leaps {
  /** Looks at what the calendar shows; between two looks it may be set there and back unseen. */
  look(now: Instant): void
  /** Whether it was set forward since this was last asked. */
  take(): boolean
  /** Lets `take` say so once more: what was done about it failed. */
  putBack(): void
}

/** By how much the calendar may outrun the steady clock: more, and it was set forward. */
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
