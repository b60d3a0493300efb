import type { Instant, Millis } from '../time.ts'
import { SECOND } from '../time.ts'

/** How fast one webhook is sent to: evenly, at most so many a second. */
export interface Pace {
  /** @param perSecond null for as fast as it goes */
  set(perSecond: number | null): void
  isLimited(): boolean
  /** When the next send may begin; 0 when one may begin at once. */
  readyAt(now: Instant): Instant
  /** Notes that a send begins. */
  take(now: Instant): void
  /** Takes back that the last one began. */
  giveBack(): void
  /** Sends that may begin within a span; Infinity without a limit. */
  within(span: Millis): number
}

/**
 * Paces by the generic cell rate algorithm: one instant is all it remembers.
 *
 * Every send moves the instant at which the next is expected by one interval; a send may begin a tenth
 * of a second early, so that fast rates are not bound to the grain of timers.
 */
export function createPace(): Pace {
  let interval: Millis | null = null
  let expected: Instant = 0
  const early = (): Millis => Math.max(0, SECOND / 10 - (interval ?? 0))
  /** No send that began by this calendar moved it so far: the calendar was set back since. */
  const isForeign = (now: Instant): boolean => expected > now + early() + (interval ?? 0)
  return {
    set(perSecond) {
      interval = perSecond === null ? null : SECOND / perSecond
    },
    isLimited: () => interval !== null,
    readyAt: (now) => (interval === null || isForeign(now) ? 0 : Math.ceil(expected - early())),
    take(now) {
      if (interval === null) return
      expected = (isForeign(now) ? now : Math.max(expected, now)) + interval
    },
    giveBack() {
      if (interval !== null) expected -= interval
    },
    within: (span) => (interval === null ? Infinity : Math.max(1, Math.floor(span / interval))),
  }
}
