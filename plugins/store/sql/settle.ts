import { COUNTED } from '../../../lib/delivery/health.ts'
import type { Attempt } from '../../../lib/delivery/state.ts'
import type { SettledAttempt } from '../../../lib/engine/ports.ts'
import type { Millis } from '../../../lib/time.ts'
import { SECOND } from '../../../lib/time.ts'

/** The values of an outcome with their types, in the order of `toValues`. */
export const OUTCOME = {
  delivery_id: 'text',
  claim: 'text',
  webhook_id: 'text',
  verdict: 'text',
  number: 'integer',
  cause: 'text',
  started_at: 'bigint',
  duration: 'integer',
  status_code: 'integer',
  error: 'text',
  response: 'text',
  status: 'text',
  automatic: 'integer',
  next_cause: 'text',
  next_at: 'bigint',
  done_at: 'bigint',
} as const

/** Written out for speed: it runs for every attempt. */
export function toValues(settled: SettledAttempt): readonly unknown[] {
  const { delivery_id, claim, webhook_id, verdict, after, done_at, attempt } = settled
  return [
    delivery_id,
    claim,
    webhook_id,
    verdict,
    attempt.number,
    attempt.trigger,
    attempt.started_at,
    Math.round(attempt.duration),
    attempt.status_code,
    storedError(attempt),
    attempt.response,
    after.status,
    after.automatic,
    after.trigger,
    after.next_at,
    done_at,
  ]
}

/** The row of a healthy webhook is updated at most this often. */
const LAG: Millis = SECOND

/** A condition: the attempt is a failure that counts. */
export function isCountedFailure(verdict: string, cause: string): string {
  const counted = COUNTED.map((trigger) => `'${trigger}'`).join(', ')
  return `(${verdict} <> 'succeeded' AND ${cause} IN (${counted}))`
}

/**
 * A condition on the row of a webhook: outcomes require an update.
 *
 * @param failed a condition: not all of them were successes
 * @param at when the last of them ended
 */
export function isWorthWriting(failed: string, at: string): string {
  return `(${failed} OR consecutive_failures > 0 OR failing_at IS NOT NULL
    OR COALESCE(last_success_at, 0) < ${at} - ${LAG})`
}

/** The stored form of error and reason: `connect` or `connect.refused`. */
function storedError({ error, error_reason }: Attempt): string | null {
  return error === null || error_reason === undefined ? error : `${error}.${error_reason}`
}
