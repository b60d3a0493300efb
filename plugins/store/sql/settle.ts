import { COUNTED } from '../../../lib/delivery/health.ts'
import type { Millis } from '../../../lib/time.ts'
import { SECOND } from '../../../lib/time.ts'

/** A healthy webhook's row is written once in a while, not with every group of outcomes. */
const LAG: Millis = SECOND

/** A condition: what failed was an attempt whose failures count. */
export function isCountedFailure(verdict: string, cause: string): string {
  const counted = COUNTED.map((trigger) => `'${trigger}'`).join(', ')
  return `(${verdict} <> 'succeeded' AND ${cause} IN (${counted}))`
}

/**
 * A condition on the row of a webhook: what outcomes tell of it is worth writing.
 *
 * @param failed a condition: not all of them were successes
 * @param at when the last of them ended
 */
export function isWorthWriting(failed: string, at: string): string {
  return `(${failed} OR consecutive_failures > 0 OR failing_at IS NOT NULL
    OR COALESCE(last_success_at, 0) < ${at} - ${LAG})`
}
