import type { Instant, Millis } from '../time.ts'
import type { Verdict } from './outcome.ts'
import type { AttemptTrigger } from './state.ts'

/** Failure counters of a webhook, over its automatic attempts. */
export interface WebhookHealth {
  /** Failed automatic attempts since the last success. */
  readonly consecutive_failures: number
  readonly first_failure_at: Instant | null
  /** When `webhook.failing` was published for this run of failures; null when it was not. */
  readonly failing_at: Instant | null
}

/** A webhook is disabled once both are reached. With a `span` of 0 only the count applies. */
export interface DisablingRule {
  /** Consecutive failures. */
  readonly failures: number
  /** Time since the first of them. */
  readonly span: Millis
}

export const HEALTHY: WebhookHealth = {
  consecutive_failures: 0,
  first_failure_at: null,
  failing_at: null,
}

/** The result of one attempt, as it affects the health of its webhook. */
export interface AttemptResult {
  readonly verdict: Verdict
  readonly trigger: AttemptTrigger
  /** When the attempt ended. */
  readonly at: Instant
}

/** Triggers whose failures count. Tests, manual retries and replays are excluded: the owner asked for them. */
export const COUNTED: readonly AttemptTrigger[] = ['event', 'retry']

/** Whether an attempt counts as a failure of the webhook. */
export function isCounted({
  verdict,
  trigger,
}: Pick<AttemptResult, 'verdict' | 'trigger'>): boolean {
  return verdict !== 'succeeded' && COUNTED.includes(trigger)
}

/** The health of a webhook after one more attempt. A success resets it, whatever triggered the attempt. */
export function afterAttempt(health: WebhookHealth, result: AttemptResult): WebhookHealth {
  if (result.verdict === 'succeeded') return HEALTHY
  if (!isCounted(result)) return health
  return {
    ...health,
    consecutive_failures: health.consecutive_failures + 1,
    first_failure_at: health.first_failure_at ?? result.at,
  }
}

/**
 * Judges whether to disable a webhook, or to warn once when half of the limit is reached.
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
  // Negative after the clock was set back, or after a duration was rounded up.
  const lasted = Math.max(0, now - health.first_failure_at)
  if (failed >= rule.failures && lasted >= rule.span) return 'disable'
  const half = failed >= Math.ceil(rule.failures / 2) && lasted >= rule.span / 2
  return half && health.failing_at === null ? 'failing' : 'well'
}
