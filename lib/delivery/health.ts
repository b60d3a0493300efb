import type { Instant, Millis } from '../time.ts'
import type { Verdict } from './outcome.ts'
import type { AttemptTrigger } from './state.ts'

/** What a webhook remembers of its automatic attempts. */
export interface WebhookHealth {
  /** Failed automatic attempts since the last success. */
  readonly consecutive_failures: number
  readonly first_failure_at: Instant | null
  /** When `webhook.failing` was told for this run of failures. */
  readonly failing_at: Instant | null
}

/** Both must be reached before a webhook is disabled; `hours` of 0 leaves the count alone. */
export interface DisablingRule {
  readonly failures: number
  readonly span: Millis
}

export const HEALTHY: WebhookHealth = {
  consecutive_failures: 0,
  first_failure_at: null,
  failing_at: null,
}

/** Several attempts' effect on one webhook, folded in order so that a group commits as one row. */
export interface HealthTally {
  readonly webhook_id: string
  /** A success was among them: what was counted before is forgotten. */
  readonly succeeded: boolean
  /** Failures after the last success among them. */
  readonly failures: number
  readonly first_failure_at: Instant | null
  readonly last_success_at: Instant | null
  readonly last_attempt_at: Instant
  /** A 410 was among them. */
  readonly gone: boolean
}

export function emptyTally(webhookId: string, now: Instant): HealthTally {
  return {
    webhook_id: webhookId,
    succeeded: false,
    failures: 0,
    first_failure_at: null,
    last_success_at: null,
    last_attempt_at: now,
    gone: false,
  }
}

/** Failures of what an owner asked for, tests and what was sent again by hand, never count up. */
const COUNTED: readonly AttemptTrigger[] = ['event', 'retry']

/** Adds one attempt; a success counts whatever it was triggered by. */
export function tally(
  sum: HealthTally,
  verdict: Verdict,
  trigger: AttemptTrigger,
  at: Instant,
): HealthTally {
  if (verdict === 'succeeded') {
    return {
      ...sum,
      succeeded: true,
      failures: 0,
      first_failure_at: null,
      last_success_at: at,
      last_attempt_at: at,
    }
  }
  const counts = COUNTED.includes(trigger)
  return {
    ...sum,
    failures: sum.failures + (counts ? 1 : 0),
    first_failure_at: counts ? (sum.first_failure_at ?? at) : sum.first_failure_at,
    last_attempt_at: at,
    gone: sum.gone || verdict === 'gone',
  }
}

/** A webhook's health once a tally is committed; the SQL store says the same in one statement. */
export function applyTally(health: WebhookHealth, sum: HealthTally): WebhookHealth {
  const before = sum.succeeded ? HEALTHY : health
  return {
    consecutive_failures: before.consecutive_failures + sum.failures,
    first_failure_at: before.first_failure_at ?? sum.first_failure_at,
    failing_at: before.failing_at,
  }
}

/**
 * Whether a webhook has failed enough to be disabled, or half of that, which is told once.
 *
 * @example
 * judgeHealth({ consecutive_failures: 3, first_failure_at: 0, failing_at: 0 }, { failures: 3, span: 0 }, 1) // 'disable'
 */
export function judgeHealth(
  health: WebhookHealth,
  rule: DisablingRule,
  now: Instant,
): 'well' | 'failing' | 'disable' {
  if (health.first_failure_at === null) return 'well'
  const failed = health.consecutive_failures
  // A clock that was set back, or a duration rounded up, must not outweigh the count.
  const lasted = Math.max(0, now - health.first_failure_at)
  if (failed >= rule.failures && lasted >= rule.span) return 'disable'
  const half = failed >= Math.ceil(rule.failures / 2) && lasted >= rule.span / 2
  return half && health.failing_at === null ? 'failing' : 'well'
}
