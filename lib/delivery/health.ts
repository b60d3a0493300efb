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

/** What one attempt tells of its webhook. */
export interface HealthNews {
  readonly verdict: Verdict
  readonly trigger: AttemptTrigger
  /** When it ended. */
  readonly at: Instant
}

/** Failures of what an owner asked for, tests and what was sent again by hand, never count up. */
export const COUNTED: readonly AttemptTrigger[] = ['event', 'retry']

/** Whether an attempt counts as a failure of the webhook. */
export function isCounted({ verdict, trigger }: Pick<HealthNews, 'verdict' | 'trigger'>): boolean {
  return verdict !== 'succeeded' && COUNTED.includes(trigger)
}

/** A webhook's health after one more attempt; a success counts whatever it was triggered by. */
export function afterAttempt(health: WebhookHealth, news: HealthNews): WebhookHealth {
  if (news.verdict === 'succeeded') return HEALTHY
  if (!isCounted(news)) return health
  return {
    ...health,
    consecutive_failures: health.consecutive_failures + 1,
    first_failure_at: health.first_failure_at ?? news.at,
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
