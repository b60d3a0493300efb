import type { Instant, Millis } from '../time.ts'
import { SECOND } from '../time.ts'

/** Rate limiter of one webhook: spreads sends evenly. */
export interface Pace {
  /** @param perSecond maximum sends per second; null for no limit */
  set(perSecond: number | null): void
  isLimited(): boolean
  /** When the next send may begin; 0 for at once. */
  readyAt(now: Instant): Instant
  /** Records that a send begins. */
  take(now: Instant): void
  /** Undoes the last `take`. */
  refund(): void
  /** Number of sends that may begin within a span; Infinity without a limit. */
  within(span: Millis): number
}

/**
 * Limits a rate with the generic cell rate algorithm (GCRA): its only state is one instant.
 *
 * Every send moves the instant of the next one by one interval. A send may begin a tenth of a second
 * early, so that high rates do not depend on the resolution of timers.
 */
export function createPace(): Pace {
  let interval: Millis | null = null
  let expected: Instant = 0
  const early = (): Millis => Math.max(0, SECOND / 10 - (interval ?? 0))
  /** Whether the instant is later than any send could have set it: the wall clock was set back. */
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
    refund() {
      if (interval !== null) expected -= interval
    },
    within: (span) => (interval === null ? Infinity : Math.max(1, Math.floor(span / interval))),
  }
}
