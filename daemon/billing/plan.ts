import type { Instant, Millis } from '../../lib/time.ts'
import { DAY } from '../../lib/time.ts'
import type { SubscriptionRecord } from '../../plugins/platform/contract/payments.ts'
import type { Plan } from '../../plugins/store/contract/accounts.ts'

/** How long a plan goes on while its invoice is not paid, and after a period while the next one is not known. */
export const GRACE: Millis = 7 * DAY

/** When the plan ends unless the invoice is paid; null while nothing is due. */
export function pastDueUntil(subscription: SubscriptionRecord): Instant | null {
  const { status, past_due_since, updated_at } = subscription
  return status === 'past_due' ? (past_due_since ?? updated_at) + GRACE : null
}

/** Whether a subscription pays for the plan now. */
export function paysForPlan(subscription: SubscriptionRecord, now: Instant): boolean {
  const { is_plan, status, cancel_at, current_period_end: end } = subscription
  if (!is_plan || (cancel_at !== null && cancel_at <= now)) return false
  if (end !== null && end + GRACE <= now) return false
  const until = pastDueUntil(subscription)
  return status === 'active' || (until !== null && until > now)
}

/** The subscription that decides the plan: one that pays for it, else the newest. */
export function decidingSubscription(
  subscriptions: readonly SubscriptionRecord[],
  now: Instant,
): SubscriptionRecord | undefined {
  const ofPlan = subscriptions.filter(({ is_plan }) => is_plan)
  return ofPlan.find((one) => paysForPlan(one, now)) ?? ofPlan[0]
}

/** When a subscription is paid for again, and brings the credit of a month; null when it no longer is. */
export function renewsAt(subscription: SubscriptionRecord, now: Instant): Instant | null {
  const { current_period_end: end, cancel_at } = subscription
  if (end === null || !paysForPlan(subscription, now)) return null
  return cancel_at === null || end < cancel_at ? end : null
}

export function planBySubscriptions(
  subscriptions: readonly SubscriptionRecord[],
  now: Instant,
): Plan {
  return subscriptions.some((one) => paysForPlan(one, now)) ? 'pro' : 'free'
}
