import assert from 'node:assert/strict'
import {
  checkoutOf,
  customerOf,
  factOf,
  failureOf,
  NEVER,
  openCheckout,
  paidSubscription,
  type ProcessorCase,
  refsTaken,
  shownBy,
  TEN,
} from './till.ts'

/** What is asked of a processor, and what becomes of its checkouts. */
export const checkoutCases: readonly ProcessorCase[] = [
  {
    name: 'keys: the same key with the same request creates one customer and one checkout',
    async run(harness) {
      const { processor, till } = harness
      const many = [1, 2, 3, 4]
      const customers = await Promise.all(many.map(() => customerOf(harness)))
      assert.equal(new Set([...customers, await customerOf(harness)]).size, 1)
      const asked = checkoutOf(customers[0] ?? '', 'topup')
      const sessions = await Promise.all(many.map(() => processor.createCheckout(asked)))
      sessions.push(await processor.createCheckout(asked))
      assert.equal(new Set(sessions.map((one) => JSON.stringify(one))).size, 1)
      assert.deepEqual(await till.count(), { customers: 1, checkouts: 1 })
      const other = { ...asked, id: 'checkout-2', key: 'keyhook-checkout-checkout-2' }
      const { session_id } = await processor.createCheckout(other)
      assert.notEqual(session_id, sessions[0]?.session_id)
    },
  },
  {
    name: 'checkout: the session has a page, and an end that is ahead',
    async run(harness) {
      const { url, expires_at } = await openCheckout(harness, 'topup')
      assert.match(url, /^https?:\/\//)
      assert.ok(Number.isSafeInteger(expires_at) && expires_at > harness.now())
    },
  },
  {
    name: 'checkout: an amount that the currency cannot express is rejected before anything is sent',
    async run(harness) {
      const { processor, till } = harness
      const customer = await customerOf(harness)
      for (const amount_micros of [1, TEN + 1, TEN + 0.5, 0, -TEN, 2 ** 53, NaN, null]) {
        const asked = checkoutOf(customer, 'topup', { amount_micros })
        await failureOf(processor.createCheckout(asked), 'rejected')
      }
      assert.equal((await till.count()).checkouts, 0)
    },
  },
  {
    name: 'checkout: one that is open or declined has no payment',
    async run(harness) {
      const { session_id } = await openCheckout(harness, 'topup')
      const open = await factOf(harness, 'checkout', session_id)
      assert.equal(open.status, 'open')
      assert.equal(open.purpose, 'topup')
      assert.notEqual(open.payment?.settled, true)
      await harness.till.decline(session_id)
      const declined = await factOf(harness, 'checkout', session_id)
      assert.equal(declined.status, 'open')
      assert.notEqual(declined.payment?.settled, true)
    },
  },
  {
    name: 'checkout: a paid one says what was received, and carries our id and the customer',
    async run(harness) {
      const customer = await customerOf(harness)
      const asked = checkoutOf(customer, 'topup', { id: '01930a60-0000-7000-8000-000000000001' })
      const { session_id } = await harness.processor.createCheckout(asked)
      await harness.till.pay(session_id)
      const { payment, ...fact } = await factOf(harness, 'checkout', session_id)
      assert.deepEqual(fact, {
        kind: 'checkout',
        id: session_id,
        checkout_id: asked.id,
        purpose: 'topup',
        status: 'complete',
        customer_id: customer,
        subscription_id: null,
      })
      assert.ok(payment)
      const { charge_id, ...received } = payment
      assert.ok(charge_id.length > 0)
      const { currency } = harness
      assert.deepEqual(received, { amount_micros: TEN, currency, settled: true })
    },
  },
  {
    name: 'checkout: a payment that takes days is settled only when it arrives',
    async run(harness) {
      const { session_id } = await openCheckout(harness, 'topup')
      await harness.till.payLater(session_id)
      const waiting = await factOf(harness, 'checkout', session_id)
      assert.equal(waiting.status, 'complete')
      assert.notEqual(waiting.payment?.settled, true)
      await refsTaken(harness)
      await harness.till.settle(session_id)
      assert.ok(
        (await refsTaken(harness)).some(({ id }) => id === session_id),
        'it is reported',
      )
      const arrived = await factOf(harness, 'checkout', session_id)
      assert.equal(arrived.payment?.settled, true)
      assert.equal(arrived.payment?.amount_micros, TEN)
    },
  },
  {
    name: 'checkout: a payment that takes days and fails is never settled',
    async run(harness) {
      const { session_id } = await openCheckout(harness, 'topup')
      await harness.till.payLater(session_id)
      await harness.till.failLater(session_id)
      const { payment } = await factOf(harness, 'checkout', session_id)
      assert.notEqual(payment?.settled, true)
    },
  },
  {
    name: 'payment method: it is collected by a page, and used from then on',
    requires: 'payment methods',
    async run(harness) {
      const { processor, till } = harness
      await paidSubscription(harness)
      const { session_id } = await openCheckout(harness, 'payment_method')
      await failureOf(processor.usePaymentMethod(session_id, 'keyhook-method-1'), 'not_found')
      await till.pay(session_id)
      const fact = await factOf(harness, 'checkout', session_id)
      assert.equal(fact.purpose, 'payment_method')
      assert.equal(fact.payment, null)
      await processor.usePaymentMethod(session_id, 'keyhook-method-2')
      await processor.usePaymentMethod(session_id, 'keyhook-method-2')
    },
  },
  {
    name: 'portal: it has an address',
    requires: 'portal',
    async run(harness) {
      const customer_id = await customerOf(harness)
      const return_url = 'https://keyhook.example.com/billing/done'
      const { url } = await harness.processor.openPortal({ customer_id, return_url })
      assert.match(url, /^https?:\/\//)
    },
  },
  {
    name: 'cards: no request takes card data, and nothing that is answered has any',
    async run(harness) {
      const { session_id } = await openCheckout(harness, 'topup')
      await harness.till.pay(session_id)
      const answers: unknown[] = [await harness.processor.fetchFacts(refTo(session_id), NEVER)]
      for (const { kind, id } of await refsTaken(harness)) {
        answers.push(await harness.processor.fetchFacts({ kind, id }, NEVER))
      }
      const text = JSON.stringify(answers)
      for (const secret of harness.secrets) assert.ok(!text.includes(secret), `${secret} is told`)
      assert.doesNotMatch(text, /\d{12,}|last4|fingerprint|exp_month/)
    },
  },
  {
    name: 'errors: an object that is not there is not found, and a fact of it is none',
    async run(harness) {
      const { processor } = harness
      const gone = 'sub_gone'
      const canceled = processor.cancelSubscription(gone, 'keyhook-cancel-1')
      await failureOf(canceled, 'not_found')
      for (const kind of ['checkout', 'invoice', 'subscription', 'charge'] as const) {
        assert.deepEqual(await processor.fetchFacts({ kind, id: `${kind}_gone` }, NEVER), [])
      }
    },
  },
  {
    name: 'errors: none names a credential or a card',
    async run(harness) {
      const { processor, secrets } = harness
      const body = new TextEncoder().encode(`{"id":"evt_1","card":"${secrets.join(' ')}"}`)
      const forged = harness.till.forge(body, harness.now())
      const failures = await Promise.all([
        failureOf(processor.receive({ ...forged, now: harness.now() }), 'invalid_signature'),
        failureOf(processor.cancelSubscription('sub_gone', 'key-1'), 'not_found'),
        failureOf(
          processor.check({ price_micros: harness.plan_micros + TEN, currency: 'XTS' }, NEVER),
          'misconfigured',
        ),
      ])
      for (const failure of failures) {
        const shown = shownBy(failure)
        for (const secret of secrets) assert.ok(!shown.includes(secret), 'a secret is shown')
      }
    },
  },
  {
    name: 'check: the price of the plan is what is sold',
    async run({ processor, currency, plan_micros }) {
      const { detail } = await processor.check({ price_micros: plan_micros, currency }, NEVER)
      assert.ok(detail.length > 0)
      const dearer = { price_micros: plan_micros + TEN, currency }
      await failureOf(processor.check(dearer, NEVER), 'misconfigured')
    },
  },
]

function refTo(id: string): { readonly kind: 'checkout'; readonly id: string } {
  return { kind: 'checkout', id }
}
