import assert from 'node:assert/strict'
import type { Instant } from '../../../lib/time.ts'
import type { ObjectRef } from '../contract.ts'
import {
  checkoutOf,
  customerOf,
  failureOf,
  idsOf,
  NEVER,
  openCheckout,
  paidSubscription,
  type ProcessorCase,
  type ProcessorHarness,
  refsTaken,
  TEN,
} from './till.ts'

/** More than a page of any processor needs for what the suite creates. */
const MOST_PAGES = 1000

/** What changed since, over all pages. */
async function sweep(
  { processor }: ProcessorHarness,
  since: Instant,
): Promise<readonly ObjectRef[]> {
  const refs: ObjectRef[] = []
  let cursor: string | null = null
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const found = await processor.changedSince(since, cursor, NEVER)
    refs.push(...found.refs)
    cursor = found.cursor
    if (cursor === null) return refs
  }
  return assert.fail('it does not end')
}

/** What finds events that were lost, and what ends a processor. */
export const sweepCases: readonly ProcessorCase[] = [
  {
    name: 'sweep: it names every object whose events were lost, page by page, and ends',
    async run(harness) {
      const { processor, till } = harness
      const since = harness.now()
      const customer = await customerOf(harness)
      const sessions: string[] = []
      for (let at = 0; at < 25; at += 1) {
        const asked = checkoutOf(customer, 'topup', { id: `checkout-${at}` })
        const { session_id } = await processor.createCheckout(asked)
        await till.pay(session_id)
        sessions.push(session_id)
      }
      const facts = await processor.fetchFacts({ kind: 'checkout', id: sessions[0] ?? '' }, NEVER)
      const [paid] = facts
      assert.ok(paid?.kind === 'checkout' && paid.payment !== null)
      const charge = paid.payment.charge_id
      await till.refund(charge, TEN / 2)
      await till.take()
      const found = await sweep(harness, since)
      assert.deepEqual([...idsOf(found, 'checkout')].sort(), sessions.sort())
      assert.ok(idsOf(found, 'charge').includes(charge))
    },
  },
  {
    name: 'sweep: it names subscriptions and invoices too',
    requires: 'subscriptions',
    async run(harness) {
      const since = harness.now()
      const id = await paidSubscription(harness)
      const invoice = await harness.till.cycle(id, 'paid')
      await harness.till.take()
      const found = await sweep(harness, since)
      assert.ok(idsOf(found, 'subscription').includes(id))
      assert.ok(idsOf(found, 'invoice').includes(invoice))
      assert.equal(idsOf(found, 'invoice').length, 2)
    },
  },
  {
    name: 'sweep: what the events told is among what it names',
    async run(harness) {
      const since = harness.now()
      const { session_id } = await openCheckout(harness, 'topup')
      await harness.till.pay(session_id)
      const told = await refsTaken(harness)
      const found = new Set((await sweep(harness, since)).map(({ kind, id }) => `${kind} ${id}`))
      for (const { kind, id } of told) assert.ok(found.has(`${kind} ${id}`), `${kind} ${id}`)
    },
  },
  {
    name: 'close: it ends what hangs, and refuses what comes after',
    requires: 'close',
    async run(harness) {
      const { processor, till } = harness
      const begun = till.hang()
      const ref = { kind: 'checkout', id: 'checkout_1' } as const
      const failed = failureOf(processor.fetchFacts(ref, NEVER), 'unavailable')
      await begun
      await processor.close?.()
      await failed
      await failureOf(processor.fetchFacts(ref, NEVER), 'unavailable')
      await failureOf(processor.createCheckout(checkoutOf('cus_1', 'topup')), 'unavailable')
    },
  },
]
