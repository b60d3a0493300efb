import type { SubscriptionFact } from '../../../plugins/billing/contract.ts'
import type { SubscriptionRecord } from '../../../plugins/platform/contract/payments.ts'
import { isoOrNull } from '../../operations/instants.ts'
import { insertAccount } from '../../authority/accounts.ts'
import { billingEvents } from '../events.ts'
import { decidingSubscription, pastDueUntil, planBySubscriptions } from '../plan.ts'
import type { Applying, Outcome } from './applying.ts'
import { DONE, IGNORED, accountOfCustomer, auditProcessor } from './applying.ts'

/** Keeps a subscription, and the plan that it pays for. */
export async function applySubscription(
  applying: Applying,
  fact: SubscriptionFact,
): Promise<Outcome> {
  const { tx, processor, now } = applying
  const account_id = await accountOfCustomer(applying, fact.customer_id)
  if (account_id === undefined) return IGNORED
  const known = await tx.payments.subscription(processor, fact.id)
  const { id, is_plan, status, past_due_since, cancel_at, current_period_end, created_at } = fact
  const subscription = {
    processor,
    id,
    account_id,
    is_plan,
    status,
    past_due_since,
    cancel_at,
    current_period_end,
    created_at,
    // Where the processor does not say since when it is past due, this does.
    updated_at: known !== undefined && known.status === status ? known.updated_at : now,
  }
  await tx.payments.putSubscription(subscription)
  const isOther = known?.status !== status || known.cancel_at !== cancel_at
  await settlePlan(applying, account_id, isOther ? subscription : undefined)
  return DONE
}

/**
 * Makes the stored plan of an account the one that is paid for, and publishes what changed.
 *
 * @param changed the subscription that changed; undefined: time alone may have ended the plan
 */
export async function settlePlan(
  applying: Applying,
  account_id: string,
  changed: SubscriptionRecord | undefined,
): Promise<void> {
  const { platform, tx, now } = applying
  const account =
    (await tx.accounts.get(account_id)) ??
    // An embedder's account has no row before it has a setting.
    (await insertAccount(tx, platform, { id: account_id, name: account_id, plan: 'free' }, now))
  const subscriptions = await tx.payments.subscriptions(account_id)
  const plan = planBySubscriptions(subscriptions, now)
  const isOther = plan !== account.plan
  if (isOther) {
    await tx.accounts.setPlan(account_id, plan, now)
    await auditProcessor(applying, {
      account_id,
      action: 'account.plan_changed',
      target_type: 'account',
      target_id: account_id,
    })
  }
  const shown = changed ?? decidingSubscription(subscriptions, now)
  if (!isOther && changed === undefined) return
  const data = {
    plan,
    previous_plan: account.plan,
    status: shown?.status ?? null,
    current_period_end: isoOrNull(shown?.current_period_end ?? null),
    cancel_at: isoOrNull(shown?.cancel_at ?? null),
    past_due_until: isoOrNull(shown === undefined ? null : pastDueUntil(shown)),
  }
  const { engine } = platform
  const type = 'billing.subscription_changed'
  const event = billingEvents.newEvent(engine, account_id, type, data, now, null)
  await engine.publishIn(tx, [event])
}
