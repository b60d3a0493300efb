import t from 'tap'
import { HOUR } from '../../lib/time.ts'
import { PRO, openShop } from '../support/payments.ts'

await t.test('what never reached the intake is found, and credited once', async (t) => {
  const shop = await openShop(t)
  const { till, wallet, work, clock } = shop
  await shop.payTopup(10_000_000, 'order-1')
  const subscription = await shop.payPro()
  const lost = await till.take()
  t.ok(lost.length > 0)
  await shop.sweep()
  await work()
  t.same(await wallet(), { balance: 10_000_000 + PRO, held: 0 })
  for (const delivery of lost) t.equal(await shop.send(delivery), 200)
  await work()
  t.same(await wallet(), { balance: 10_000_000 + PRO, held: 0 }, 'late events add nothing')
  await till.cycle(subscription, 'paid')
  await till.take()
  await shop.sweep()
  await work()
  t.same(await wallet(), { balance: 10_000_000 + PRO, held: 0 }, 'not before an hour has passed')
  clock.set(HOUR)
  await shop.sweep()
  await work()
  t.same(await wallet(), { balance: 10_000_000 + 2 * PRO, held: 0 })
  t.same(await shop.verified(), [])
  t.same(shop.warnings, [])
})

await t.test('a refund that nothing told of is found', async (t) => {
  const shop = await openShop(t)
  const charge = await shop.payTopup(10_000_000, 'order-1')
  await shop.deliver()
  await shop.till.refund(charge, 4_000_000)
  await shop.till.take()
  await shop.findChanged()
  await shop.work()
  t.same(await shop.wallet(), { balance: 6_000_000, held: 0 })
})

await t.test('what is settled, or waits, is not fetched again', async (t) => {
  const shop = await openShop(t)
  await shop.payTopup(10_000_000, 'order-1')
  const first = await shop.findChanged()
  t.ok(first > 0)
  t.equal(await shop.findChanged(), 0, 'it waits')
  await shop.work()
  const again = await shop.findChanged()
  t.ok(again < first, 'a settled checkout is left out')
})

await t.test(
  'an object that cannot be fetched is tried again, and left after 72 hours',
  async (t) => {
    const shop = await openShop(t)
    await shop.payTopup(10_000_000, 'order-1')
    const { processor, clock, till, send, work } = shop
    const { fetchFacts } = processor
    for (const delivery of await till.take()) await send(delivery)
    const away = () => Promise.reject(new Error('away'))
    Object.assign(processor, { fetchFacts: away })
    await work()
    t.ok(shop.warnings.length > 0)
    t.same(await shop.wallet(), { balance: 0, held: 0 })
    clock.set(HOUR)
    Object.assign(processor, { fetchFacts })
    await work()
    t.same(await shop.wallet(), { balance: 10_000_000, held: 0 })

    await shop.payTopup(10_000_000, 'order-2')
    for (const delivery of await till.take()) await send(delivery)
    Object.assign(processor, { fetchFacts: away })
    await work()
    const status = async () =>
      (await shop.request('GET', '/v1/billing/processor', { as: shop.operator })).body
    t.match(await status(), { processor: 'memory', waiting: 1, failed: 0, swept_at: null })
    t.equal(shop.counts.events.failed, 0)
    clock.set(72 * HOUR)
    await work()
    t.match(await status(), { waiting: 0, failed: 1 })
    t.equal(shop.counts.events.failed, 1)
    t.ok(shop.counts.events.retried >= 2)
    Object.assign(processor, { fetchFacts })
    await shop.findChanged()
    await work()
    t.same(await shop.wallet(), { balance: 20_000_000, held: 0 }, 'the sweep found it')
    t.match(await status(), { waiting: 0, failed: 0, swept_at: /Z$/ }, 'it is up to date')
  },
)

await t.test('an operator sees plans that nobody pays for, and who pays elsewhere', async (t) => {
  const shop = await openShop(t)
  const { request, operator, platform, account } = shop
  const status = async () => (await request('GET', '/v1/billing/processor', { as: operator })).body
  await shop.payPro()
  await shop.deliver()
  t.match(await status(), { other_plans: 0, elsewhere: 0, waiting: 0 })
  const setPlan = (id: string, plan: 'free' | 'pro') =>
    platform.store.write((tx) => tx.accounts.setPlan(id, plan, shop.clock.now()))
  const other = await shop.addAccount()
  await setPlan(other.id, 'pro')
  await setPlan(account.id, 'free')
  t.match(await status(), { other_plans: 2 }, 'as after a change of the mode')
  await shop.sweep()
  t.match(await status(), { other_plans: 1 }, 'it ends those that nobody pays for')
  Object.assign(platform.billing, { processing: undefined })
  t.match(await status(), { processor: null, other_plans: 0, elsewhere: 1 })
  const theirs = await request('GET', '/v1/billing/processor')
  t.match(theirs, { status: 403, body: { error: { code: 'operator_required' } } })
})

await t.test('a sweep of a clock that was ahead hides nothing that happened since', async (t) => {
  const shop = await openShop(t)
  await shop.findChanged()
  shop.clock.set(10 * HOUR)
  await shop.findChanged()
  shop.clock.set(-8 * HOUR)
  await shop.payTopup(10_000_000, 'order-1')
  await shop.till.take()
  shop.clock.set(3 * HOUR)
  await shop.sweep()
  await shop.work()
  t.same(await shop.wallet(), { balance: 10_000_000, held: 0 })
})
