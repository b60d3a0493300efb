import type { Settlement } from '../../../lib/engine/ports.ts'

/** Outcomes and sums as flat rows, by the names of their columns. */
export function toSettlingRows({ attempts, tallies }: Settlement) {
  return {
    attempts: attempts.map(({ delivery_id, claim, after, done_at, attempt }) => ({
      delivery_id,
      claim,
      number: attempt.number,
      cause: attempt.trigger,
      started_at: attempt.started_at,
      duration: Math.round(attempt.duration),
      status_code: attempt.status_code,
      error: attempt.error,
      response: attempt.response,
      status: after.status,
      attempts: after.attempts,
      automatic: after.automatic,
      next_cause: after.trigger,
      next_at: after.next_at,
      done_at,
    })),
    tallies: tallies.map((tally) => ({
      webhook_id: tally.webhook_id,
      succeeded: tally.succeeded ? 1 : 0,
      failures: tally.failures,
      first_failure_at: tally.first_failure_at,
      last_success_at: tally.last_success_at,
      last_delivery_at: tally.last_attempt_at,
    })),
  }
}
