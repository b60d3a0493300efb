import t from 'tap'
import { DAY, HOUR, MINUTE } from '../../lib/time.ts'
import type { Fact, PaymentProcessor } from '../../plugins/billing/contract.ts'
import { enqueueObject } from '../../daemon/billing/payments/enqueue.ts'
import { PRO, openShop } from '../support/payments.ts'

const NEVER = new AbortController().signal

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

await t.test('a sweep after more than a month leaves no gap', async (t) => {
  const shop = await openShop(t)
  const { clock, till, work, wallet } = shop
  await shop.findChanged()
  clock.set(5 * DAY)
  await shop.payTopup(10_000_000, 'order-1')
  const disputed = await shop.payTopup(20_000_000, 'order-2')
  await shop.findChanged()
  const dispute = await till.dispute(disputed, 20_000_000)
  await shop.findChanged()
  await work()
  t.same(await wallet(), { balance: 10_000_000, held: 0 })
  clock.set(DAY)
  await shop.payTopup(5_000_000, 'order-3')
  await till.win(dispute)
  await till.take()
  clock.set(60 * DAY)
  await shop.sweep()
  await work()
  t.same(await wallet(), { balance: 35_000_000, held: 0 })
  t.same(await shop.verified(), [])
})

await t.test('what no list tells any more is fetched by what is known of it', async (t) => {
  const shop = await openShop(t)
  const { clock, till, work, wallet, processor } = shop
  const disputed = await shop.payTopup(20_000_000, 'order-1')
  await shop.deliver()
  const dispute = await till.dispute(disputed, 20_000_000)
  await shop.findChanged()
  await work()
  t.same(await wallet(), { balance: 0, held: 0 })
  const subscription = await shop.payPro()
  await shop.deliver()
  const open = await till.cycle(subscription, 'unpaid')
  await shop.deliver()
  await till.win(dispute)
  await till.recover(subscription)
  await till.take()
  Object.assign(processor, { changedSince: async () => ({ refs: [], cursor: null }) })
  clock.set(60 * DAY)
  await shop.sweep()
  await work()
  t.same(await wallet(), { balance: 20_000_000 + 2 * PRO, held: 0 }, open)
})

await t.test('Pro ends seven days after a period that nothing followed', async (t) => {
  const shop = await openShop(t)
  const { clock, till, work, processor, request, platform, account } = shop
  const plan = async () => (await request('GET', '/v1/billing/wallet')).body['plan']
  const subscription = await shop.payPro()
  await shop.deliver()
  const [live] = await platform.store.payments.subscriptions(account.id)
  const end = live?.current_period_end ?? 0
  clock.set(end + 7 * DAY - 1 - clock.now())
  t.equal(await plan(), 'pro')
  clock.set(1)
  t.equal(await plan(), 'free', 'to the instant')
  await till.cycle(subscription, 'paid')
  await till.take()
  Object.assign(processor, { changedSince: async () => ({ refs: [], cursor: null }) })
  await shop.sweep()
  t.equal((await platform.store.accounts.get(account.id))?.plan, 'free')
  await work()
  t.equal(await plan(), 'pro', 'the sweep asked')
  t.equal((await platform.store.accounts.get(account.id))?.plan, 'pro')
})

await t.test(
  'an invoice is settled with its credit: its price may become known later',
  async (t) => {
    const shop = await openShop(t)
    const { processor, work, wallet } = shop
    const { fetchFacts } = processor
    const unknown = (fact: Fact): Fact => ('is_plan' in fact ? { ...fact, is_plan: false } : fact)
    const misread: PaymentProcessor['fetchFacts'] = async (ref, signal) =>
      (await fetchFacts(ref, signal)).map(unknown)
    Object.assign(processor, { fetchFacts: misread })
    await shop.payPro()
    await shop.deliver()
    t.same(await wallet(), { balance: 0, held: 0 })
    Object.assign(processor, { fetchFacts })
    await shop.findChanged()
    await work()
    t.same(await wallet(), { balance: PRO, held: 0 })
    await shop.findChanged()
    await work()
    t.same(await wallet(), { balance: PRO, held: 0 }, 'once')
  },
)

await t.test(
  'what others sell with the same account of the processor is not fetched',
  async (t) => {
    const shop = await openShop(t)
    const { processor, till } = shop
    const given = { account_id: 'another product', email: null, key: 'theirs' }
    const { customer_id } = await processor.createCustomer(given)
    for (const id of ['order-1', 'order-2', 'order-3']) {
      const { session_id } = await processor.createCheckout({
        id,
        key: id,
        kind: 'topup',
        customer_id,
        amount_micros: 10_000_000,
        success_url: shop.baseUrl,
        cancel_url: shop.baseUrl,
      })
      await till.pay(session_id)
      const [fact] = await processor.fetchFacts({ kind: 'checkout', id: session_id }, NEVER)
      if (fact?.kind === 'checkout') await till.refund(fact.payment?.charge_id ?? '', 1_000_000)
    }
    t.equal(await shop.findChanged(), 0)
    await shop.payTopup(10_000_000, 'order-1')
    t.equal(await shop.findChanged(), 1)
  },
)

await t.test(
  'a sweep goes on with the page that failed, after waiting longer each time',
  async (t) => {
    const shop = await openShop(t)
    const { processor, clock, work, wallet } = shop
    for (let at = 0; at < 25; at += 1) await shop.payTopup(10_000_000, `order-${at}`)
    const { changedSince } = processor
    const pages: (string | null)[] = []
    const failing = { second: true }
    const patched: PaymentProcessor['changedSince'] = async (since, cursor, signal) => {
      pages.push(cursor)
      if (cursor !== null && failing.second) throw new Error('away')
      return changedSince(since, cursor, signal)
    }
    Object.assign(processor, { changedSince: patched })
    await t.rejects(shop.sweep(), /away/)
    await work()
    t.same(pages, [null, '20'])
    await shop.sweep()
    t.equal(pages.length, 2, 'not at once')
    clock.set(MINUTE)
    await t.rejects(shop.sweep(), /away/)
    clock.set(MINUTE)
    await shop.sweep()
    t.same(pages, [null, '20', '20'], 'after two minutes')
    failing.second = false
    clock.set(MINUTE)
    await shop.sweep()
    await work()
    t.same(pages, [null, '20', '20', '20'], 'the first page is not read again')
    t.same(await wallet(), { balance: 250_000_000, held: 0 })
    await shop.sweep()
    t.equal(pages.length, 4, 'an hour after it began')
  },
)

await t.test('an event of a processor that was replaced does not wait for ever', async (t) => {
  const shop = await openShop(t)
  const { platform, clock, work } = shop
  const { store } = platform
  const occasion = { source: 'intake', type: 'invoice.paid', event_id: 'evt_1' } as const
  const ref = { kind: 'invoice', id: 'in_1' } as const
  const replaced = { ...occasion, processor: 'other', now: clock.now() }
  await store.write((tx) => enqueueObject(platform, tx, ref, replaced))
  await work()
  t.equal(await store.payments.countWaiting('other'), 0)
  t.equal(await store.payments.countFailed('other'), 1)
  t.equal(await store.payments.isAwaited({ ...ref, processor: 'other' }), false)
})
