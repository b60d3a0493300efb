import t from 'tap'
import { openShop } from '../support/payments.ts'

const TEN = 10_000_000

type Shop = Awaited<ReturnType<typeof openShop>>

async function spend(shop: Shop, amount: number): Promise<void> {
  const { platform, account, clock } = shop
  const { store, newId } = platform
  const operation_id = newId()
  const work = { account_id: account.id, operation_id }
  const now = clock.now()
  await store.write(async (tx) => {
    const by = { type: 'operator', id: null } as const
    await platform.billing.hold(tx, {
      account_id: account.id,
      operation: 'edits.create',
      app_id: null,
      by,
      now,
      works: [{ operation_id, quantity: amount / 100 }],
    })
    await platform.billing.capture(tx, work)
  })
}

const debtOf = async ({ request }: Shop) =>
  (await request('GET', '/v1/billing/wallet')).body['debt_micros']

await t.test('refunds take back their share once; one that failed gives it back', async (t) => {
  const shop = await openShop(t)
  const charge = await shop.payTopup(TEN, 'order-1')
  await shop.deliver()
  const first = await shop.till.refund(charge, 4_000_000)
  await shop.deliver({ copies: 3, order: 'random', seed: 'a' })
  t.same(await shop.wallet(), { balance: 6_000_000, held: 0 })
  await shop.till.refund(charge, 1_000_000)
  await shop.deliver({ copies: 2 })
  t.same(await shop.wallet(), { balance: 5_000_000, held: 0 })
  await shop.till.failRefund(first)
  await shop.deliver({ copies: 2 })
  t.same(await shop.wallet(), { balance: 9_000_000, held: 0 })
  t.same(await shop.verified(), [])
})

await t.test('a refund that is told of before its payment waits for it', async (t) => {
  const shop = await openShop(t)
  const charge = await shop.payTopup(TEN, 'order-1')
  await shop.till.refund(charge, TEN)
  await shop.deliver({ order: 'reverse' })
  t.same(await shop.wallet(), { balance: 0, held: 0 })
  t.equal(await debtOf(shop), 0)
  t.same(await shop.verified(), [])
})

await t.test('a dispute takes all; one that is won gives it back', async (t) => {
  const shop = await openShop(t)
  const charge = await shop.payTopup(TEN, 'order-1')
  await shop.deliver()
  await shop.till.inquire(charge)
  await shop.deliver()
  t.same(await shop.wallet(), { balance: TEN, held: 0 }, 'an inquiry takes nothing')
  const dispute = await shop.till.dispute(charge, TEN)
  await shop.deliver({ copies: 2 })
  t.same(await shop.wallet(), { balance: 0, held: 0 })
  await shop.till.win(dispute)
  await shop.deliver({ copies: 2 })
  t.same(await shop.wallet(), { balance: TEN, held: 0 })
  t.same(await shop.verified(), [])
})

await t.test('what was spent becomes a debt, which the next credit pays first', async (t) => {
  const shop = await openShop(t)
  const charge = await shop.payTopup(TEN, 'order-1')
  await shop.deliver()
  await spend(shop, 8_000_000)
  await shop.till.refund(charge, TEN)
  await shop.deliver({ copies: 2 })
  t.equal(await debtOf(shop), 8_000_000)
  t.same(await shop.wallet(), { balance: 0, held: 0 })
  await t.rejects(spend(shop, 100), { code: 'insufficient_balance' })
  await shop.payTopup(TEN, 'order-2')
  await shop.deliver()
  t.equal(await debtOf(shop), 0)
  t.same(await shop.wallet(), { balance: 2_000_000, held: 0 })
  t.same(await shop.verified(), [])
})

await t.test('the refund of a month takes its credit back', async (t) => {
  const shop = await openShop(t)
  await shop.payPro()
  await shop.deliver()
  const { store } = shop.platform
  const { rows } = await store.payments.invoices({
    account_id: shop.account.id,
    status: null,
    limit: 1,
    after: null,
  })
  await shop.till.refund(String(rows[0]?.charge_id), 25_000_000)
  await shop.deliver({ copies: 2 })
  t.same(await shop.wallet(), { balance: 0, held: 0 })
  const audited = await shop.request<{ readonly data: readonly object[] }>(
    'GET',
    '/v1/audit-log?action=billing.clawed_back',
  )
  t.equal(audited.body.data.length, 1)
  t.same(await shop.verified(), [])
})
