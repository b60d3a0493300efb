import assert from 'node:assert/strict'
import { DAY } from '../../../lib/time.ts'
import type { InvoiceFact } from '../contract.ts'
import {
  factOf,
  idsOf,
  openCheckout,
  paidSubscription,
  type ProcessorCase,
  type ProcessorHarness,
  refsTaken,
} from './till.ts'

/** The first invoice of a subscription, found as the core finds it. */
async function firstInvoice(harness: ProcessorHarness): Promise<string> {
  await harness.till.take()
  const subscription = await paidSubscription(harness)
  for (const id of idsOf(await refsTaken(harness), 'invoice')) {
    if ((await factOf(harness, 'invoice', id)).subscription_id === subscription) return id
  }
  return assert.fail('no event names the first invoice')
}

function paidBy({ payments }: InvoiceFact): readonly number[] {
  return payments.map(({ amount_micros }) => amount_micros)
}

/** Subscriptions and their invoices. */
export const subscriptionCases: readonly ProcessorCase[] = [
  {
    name: 'subscription: there is none before its checkout is paid',
    requires: 'subscriptions',
    async run(harness) {
      const { session_id } = await openCheckout(harness, 'subscribe')
      const open = await factOf(harness, 'checkout', session_id)
      assert.equal(open.subscription_id, null)
      assert.equal(open.payment, null)
      await harness.till.pay(session_id)
      const paid = await factOf(harness, 'checkout', session_id)
      assert.equal(paid.status, 'complete')
      assert.equal(paid.payment, null, 'its invoice is what is paid')
      const subscription = await factOf(harness, 'subscription', paid.subscription_id ?? '')
      assert.equal(subscription.customer_id, paid.customer_id)
      assert.equal(subscription.is_plan, true)
      assert.equal(subscription.status, 'active')
      assert.equal(subscription.past_due_since, null)
      assert.equal(subscription.cancel_at, null)
      const { current_period_end: end } = subscription
      assert.ok(end !== null && end > harness.now() + 20 * DAY)
    },
  },
  {
    name: 'invoice: the first is of reason create, the next cycle, a proration other',
    requires: 'subscriptions',
    async run(harness) {
      const { till } = harness
      const first = await factOf(harness, 'invoice', await firstInvoice(harness))
      const subscription = first.subscription_id ?? ''
      const { customer_id } = await factOf(harness, 'subscription', subscription)
      assert.equal(first.reason, 'create')
      assert.equal(first.status, 'paid')
      assert.equal(first.is_plan, true)
      assert.equal(first.customer_id, customer_id)
      assert.equal(first.amount_paid_micros, harness.plan_micros)
      assert.equal(first.currency, harness.currency)
      assert.deepEqual(paidBy(first), [harness.plan_micros])
      assert.ok(first.period !== null)
      const next = await factOf(harness, 'invoice', await till.cycle(subscription, 'paid'))
      assert.equal(next.reason, 'cycle')
      assert.equal(next.status, 'paid')
      assert.equal(next.is_plan, true)
      assert.equal(next.subscription_id, subscription)
      assert.equal(next.period?.start, first.period.end)
      assert.notEqual(next.payments[0]?.charge_id, first.payments[0]?.charge_id)
      const proration = await factOf(harness, 'invoice', await till.prorate(subscription))
      assert.equal(proration.reason, 'other')
    },
  },
  {
    name: 'invoice: one that a coupon pays all of is paid, with amount 0 and no charge',
    requires: 'subscriptions',
    async run(harness) {
      const id = await harness.till.cycle(await paidSubscription(harness), 'coupon')
      const fact = await factOf(harness, 'invoice', id)
      assert.equal(fact.status, 'paid')
      assert.equal(fact.reason, 'cycle')
      assert.equal(fact.is_plan, true)
      assert.equal(fact.amount_paid_micros, 0)
      assert.deepEqual(fact.payments, [])
    },
  },
  {
    name: 'subscription: past due from the first unpaid invoice on, until it is recovered',
    requires: 'subscriptions',
    async run(harness) {
      const { till } = harness
      const id = await paidSubscription(harness)
      const unpaid = await till.cycle(id, 'unpaid')
      assert.equal((await factOf(harness, 'invoice', unpaid)).status, 'open')
      assert.deepEqual((await factOf(harness, 'invoice', unpaid)).payments, [])
      const late = await factOf(harness, 'subscription', id)
      assert.equal(late.status, 'past_due')
      assert.ok(late.past_due_since !== null)
      await till.pass(30 * DAY)
      await till.cycle(id, 'unpaid')
      const later = await factOf(harness, 'subscription', id)
      assert.equal(later.past_due_since, late.past_due_since, 'another period changes nothing')
      await refsTaken(harness)
      await till.recover(id)
      assert.ok(idsOf(await refsTaken(harness), 'invoice').includes(unpaid), 'it is reported')
      const recovered = await factOf(harness, 'subscription', id)
      assert.equal(recovered.status, 'active')
      assert.equal(recovered.past_due_since, null)
      assert.equal((await factOf(harness, 'invoice', unpaid)).status, 'paid')
    },
  },
  {
    name: 'subscription: canceling ends it with its period',
    requires: 'subscriptions',
    async run(harness) {
      const { processor, till } = harness
      const id = await paidSubscription(harness)
      const { current_period_end } = await factOf(harness, 'subscription', id)
      await processor.cancelSubscription(id, `keyhook-cancel-${id}`)
      await processor.cancelSubscription(id, `keyhook-cancel-${id}`)
      const ending = await factOf(harness, 'subscription', id)
      assert.equal(ending.status, 'active')
      assert.equal(ending.cancel_at, current_period_end)
      await refsTaken(harness)
      await till.end(id)
      assert.ok(idsOf(await refsTaken(harness), 'subscription').includes(id), 'it is reported')
      assert.equal((await factOf(harness, 'subscription', id)).status, 'canceled')
    },
  },
]
