import assert from 'node:assert/strict'
import type { Fact, ObjectRef } from '../contract.ts'
import {
  customerOf,
  factOf,
  idsOf,
  NEVER,
  openCheckout,
  paidTopup,
  type ProcessorCase,
  type ProcessorHarness,
  received,
  refsTaken,
  TEN,
} from './till.ts'

async function factsOf(
  { processor }: ProcessorHarness,
  refs: readonly ObjectRef[],
): Promise<ReadonlyMap<string, readonly Fact[]>> {
  const facts = new Map<string, readonly Fact[]>()
  for (const ref of refs) facts.set(`${ref.kind} ${ref.id}`, await processor.fetchFacts(ref, NEVER))
  return facts
}

/** Facts of payments that are given back, and of facts in general. */
export const factCases: readonly ProcessorCase[] = [
  {
    name: 'facts: the same after every repeat, and whatever the order of the events',
    async run(harness) {
      const charge = await paidTopup(harness)
      const failed = await harness.till.refund(charge, TEN / 4)
      await harness.till.refund(charge, TEN / 2)
      await harness.till.failRefund(failed)
      const deliveries = await harness.till.take()
      assert.ok(deliveries.length > 2)
      const runs: ReadonlyMap<string, readonly Fact[]>[] = []
      const orders = [deliveries, deliveries.toReversed(), [...deliveries, ...deliveries]]
      for (const order of orders) {
        const refs: ObjectRef[] = []
        for (const one of order) refs.push(...(await received(harness, one)).refs)
        runs.push(await factsOf(harness, refs))
      }
      const sorted = runs.map((run) => [...run].sort(([a], [b]) => a.localeCompare(b)))
      assert.deepEqual(sorted[1], sorted[0])
      assert.deepEqual(sorted[2], sorted[0])
    },
  },
  {
    name: 'charge: it says what was charged, to which customer, and that nothing was given back',
    async run(harness) {
      const charge = await paidTopup(harness)
      assert.deepEqual(await factOf(harness, 'charge', charge), {
        kind: 'charge',
        id: charge,
        customer_id: await customerOf(harness),
        amount_micros: TEN,
        currency: harness.currency,
        refunds: [],
        disputes: [],
      })
    },
  },
  {
    name: 'charge: refunds are counted each, and no more once one has failed',
    async run(harness) {
      const { till } = harness
      const charge = await paidTopup(harness)
      await till.take()
      const part = await till.refund(charge, TEN / 4)
      assert.deepEqual(idsOf(await refsTaken(harness), 'charge'), [charge], 'it is reported')
      const rest = await till.refund(charge, TEN / 2)
      const both = await factOf(harness, 'charge', charge)
      assert.deepEqual(new Map(both.refunds.map((one) => [one.id, one])), refundsOf(part, rest))
      await till.take()
      await till.failRefund(part)
      assert.deepEqual(idsOf(await refsTaken(harness), 'charge'), [charge], 'it is reported')
      const { refunds } = await factOf(harness, 'charge', charge)
      const left = refunds.filter(({ succeeded }) => succeeded)
      assert.deepEqual(
        left.map(({ id, amount_micros }) => [id, amount_micros]),
        [[rest, TEN / 2]],
      )
    },
  },
  {
    name: 'charge: none of many refunds is missed',
    async run(harness) {
      const charge = await paidTopup(harness)
      const ids: string[] = []
      for (let at = 0; at < 10; at += 1) ids.push(await harness.till.refund(charge, TEN / 10))
      const { refunds } = await factOf(harness, 'charge', charge)
      assert.deepEqual(refunds.map(({ id }) => id).sort(), ids.sort())
    },
  },
  {
    name: 'charge: a dispute withdraws its amount until it is won',
    async run(harness) {
      const { till } = harness
      const charge = await paidTopup(harness)
      await till.take()
      const id = await till.dispute(charge, TEN / 2)
      assert.deepEqual(idsOf(await refsTaken(harness), 'charge'), [charge], 'it is reported')
      const lost = await factOf(harness, 'charge', charge)
      assert.deepEqual(lost.disputes, [{ id, amount_micros: TEN / 2, withdrawn: true }])
      await till.win(id)
      assert.deepEqual(idsOf(await refsTaken(harness), 'charge'), [charge], 'it is reported')
      const won = await factOf(harness, 'charge', charge)
      assert.deepEqual(won.disputes, [{ id, amount_micros: TEN / 2, withdrawn: false }])
    },
  },
  {
    name: 'charge: an inquiry withdraws nothing',
    async run(harness) {
      const charge = await paidTopup(harness)
      await harness.till.inquire(charge)
      const { disputes } = await factOf(harness, 'charge', charge)
      assert.equal(disputes.filter(({ withdrawn }) => withdrawn).length, 0)
    },
  },
  {
    name: 'signal: it ends a call that hangs, with the reason',
    async run(harness) {
      const { session_id } = await openCheckout(harness, 'topup')
      const reason = new Error('nobody waits')
      for (const call of [
        (signal: AbortSignal) =>
          harness.processor.fetchFacts({ kind: 'checkout', id: session_id }, signal),
        (signal: AbortSignal) => harness.processor.changedSince(0, null, signal),
      ]) {
        const abort = new AbortController()
        const begun = harness.till.hang()
        const work = call(abort.signal)
        void begun.then(() => abort.abort(reason))
        await assert.rejects(work, (error) => error === reason)
      }
    },
  },
  {
    name: 'signal: one that has aborted before sends nothing',
    async run({ processor }) {
      const reason = new Error('nobody waits')
      const ref = { kind: 'checkout', id: 'checkout_1' } as const
      const work = processor.fetchFacts(ref, AbortSignal.abort(reason))
      await assert.rejects(work, (error) => error === reason)
    },
  },
]

function refundsOf(part: string, rest: string): ReadonlyMap<string, object> {
  return new Map([
    [part, { id: part, amount_micros: TEN / 4, succeeded: true }],
    [rest, { id: rest, amount_micros: TEN / 2, succeeded: true }],
  ])
}
