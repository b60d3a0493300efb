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
    const { processor, clock, till, send, work, platform } = shop
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
    clock.set(72 * HOUR)
    await work()
    t.ok((await platform.store.payments.countFailed('memory')) > 0)
    Object.assign(processor, { fetchFacts })
    await shop.findChanged()
    await work()
    t.same(await shop.wallet(), { balance: 20_000_000, held: 0 }, 'the sweep found it')
  },
)
