import { kernelError } from '../errors.ts'
import type { Millis } from '../time.ts'
import { SECOND } from '../time.ts'

/** Delay after the first, second, … failed automatic attempt. */
export type RetrySchedule = readonly Millis[]

const MAX_STEPS = 20
const MAX_STEP_SECONDS = 604_800

/** 10 attempts over about 75 hours. */
export const DEFAULT_SCHEDULE: RetrySchedule = [
  5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400,
].map((seconds) => seconds * SECOND)

/** Jitter lengthens a delay by at most this fraction. */
const JITTER = 0.1

/**
 * Parses a retry schedule: 1 to 20 comma-separated whole seconds, each from 0 to 604800.
 *
 * @example
 * parseSchedule('1,2,4') // [1000, 2000, 4000]
 * @throws KeyhookError `invalid_schedule`
 */
export function parseSchedule(text: string): RetrySchedule {
  const steps = text.split(',').map((step) => step.trim())
  const bad = steps.find((step) => !/^\d{1,6}$/.test(step) || Number(step) > MAX_STEP_SECONDS)
  if (bad !== undefined || steps.length > MAX_STEPS) {
    throw kernelError('invalid_schedule', {
      details: bad === undefined ? { steps: steps.length } : { element: bad },
    })
  }
  return steps.map((step) => Number(step) * SECOND)
}

/**
 * The delay before the next automatic attempt; null when the schedule is used up.
 *
 * @param automatic automatic attempts so far, including the failed one (1 or more)
 * @param retryAfter lower bound that the receiver asked for
 * @param chance uniform in [0, 1)
 */
export function nextDelay(
  schedule: RetrySchedule,
  automatic: number,
  retryAfter: Millis | null,
  chance: number,
): Millis | null {
  const step = schedule[automatic - 1]
  if (step === undefined) return null
  const base = Math.max(step, retryAfter ?? 0)
  return base + Math.floor(base * JITTER * chance)
}
