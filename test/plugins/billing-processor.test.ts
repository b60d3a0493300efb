import t from 'tap'
import type { ProcessorHarness } from '../../plugins/billing/conformance.ts'
import { processorCases } from '../../plugins/billing/conformance.ts'
import { arrange } from '../../plugins/billing/memory/arrange.ts'
import { createMemoryProcessor } from '../../plugins/billing/memory.ts'
import { runCases } from '../../plugins/conformance.ts'
import { stripeHarness } from '../support/stripe.ts'

const ABLE = ['subscriptions', 'portal', 'payment methods', 'close']

const SUITES: Readonly<Record<string, () => Promise<ProcessorHarness>>> = {
  memory: async () => {
    const processor = createMemoryProcessor({ clock: { now: () => Date.now() } })
    return {
      processor,
      till: processor.till,
      now: () => processor.till.now(),
      currency: 'USD',
      plan_micros: 25_000_000,
      secrets: ['memory-secret'],
      close: async () => processor.close?.(),
    }
  },
  'Stripe, over a fake': () => stripeHarness(),
  'Stripe, over a fake with short pages': async () => {
    const harness = await stripeHarness()
    harness.fake.pageSize = 3
    return harness
  },
}

for (const [name, makeHarness] of Object.entries(SUITES)) {
  await t.test(`${name} keeps the contract of a payment processor`, async (t) => {
    const register = (title: string, run: () => Promise<void>): void => {
      void t.test(title, async (t) => {
        await run()
        t.pass('as the contract says')
      })
    }
    t.same(runCases(processorCases, makeHarness, register, ABLE), [])
  })
}

await t.test('deliveries are repeated, reordered and lost the same for the same seed', (t) => {
  const sent = Array.from({ length: 20 }, (_, at) => at)
  t.same(arrange(sent), sent)
  t.same(arrange(sent, { order: 'reverse' }), sent.toReversed())
  const twice = arrange(sent, { copies: 2 })
  t.same(twice, [...sent, ...sent])
  const how = { copies: 3, order: 'random', seed: 'seven', lose: 4 } as const
  const arranged = arrange(sent, how)
  t.equal(arranged.length, 48)
  t.equal(new Set(arranged).size, 16, 'with all their copies')
  t.same(arrange(sent, how), arranged)
  t.not(JSON.stringify(arrange(sent, { ...how, seed: 'eight' })), JSON.stringify(arranged))
  t.end()
})

await t.test(
  'memory: another request with a key is rejected, and so is a plan of another price',
  async (t) => {
    const processor = createMemoryProcessor({ clock: { now: () => 0 }, plan_micros: 5_000_000 })
    const given = { account_id: 'acc_1', email: null, key: 'key-1' }
    const { customer_id } = await processor.createCustomer(given)
    t.same(await processor.createCustomer(given), { customer_id })
    await t.rejects(processor.createCustomer({ ...given, account_id: 'acc_2' }), {
      code: 'rejected',
    })
  },
)
