import t from 'tap'
import { DAY, toIso } from '../../lib/time.ts'
import type { Fact } from '../../plugins/billing/contract.ts'
import { OWNER_CHANGES } from '../support/billing.ts'
import { eventsOf } from '../support/edits.ts'
import { PRO, START, openShop } from '../support/payments.ts'
import type { AnyBody } from '../support/world.ts'

interface Page {
  readonly data: readonly AnyBody[]
}

await t.test('a top-up is credited once, whatever becomes of its events', async (t) => {
  const shop = await openShop(t)
  const { post, till, deliver, wallet } = shop
  const asked = await post('topup', { amount: '10.00' }, 'order-1')
  t.match(asked, {
    status: 201,
    body: { status: 'open', checkout_url: /^https:/, expires_at: /Z$/ },
  })
  t.same((await post('topup', { amount: '10.00' }, 'order-1')).body, asked.body, 'once per key')
  t.equal((await till.count()).checkouts, 1)
  const page = await shop.request('GET', '/v1/billing/ledger')
  t.same(page.body['data'], [], 'asking moves no money')
  await till.pay(await shop.sessionOf(asked))
  t.ok((await deliver({ copies: 3, order: 'reverse' })).every((status) => status === 200))
  t.same(await wallet(), { balance: 10_000_000, held: 0 })
  t.match((await shop.request<Page>('GET', '/v1/billing/ledger')).body.data, [
    { kind: 'topup', amount: '10.00', ref: { type: 'checkout', id: asked.body['id'] } },
  ])
  const credited = (await eventsOf(shop)).filter(({ type }) => type === 'billing.credited')
  t.match(credited, [{ data: { kind: 'topup', amount_micros: 10_000_000, expires_at: null } }])
  t.equal(credited.length, 1)
  const audited = await shop.request<Page>('GET', '/v1/audit-log?action=billing.credited')
  t.match(audited.body.data, [{ actor: { type: 'processor', id: 'memory' } }])
  t.same(await shop.verified(), [])
  t.same(shop.warnings, [])
})

await t.test('a payment that settles later is credited when it does', async (t) => {
  const shop = await openShop(t)
  const session = await shop.sessionOf(await shop.post('topup', { amount: '10.00' }, 'order-1'))
  await shop.till.payLater(session)
  await shop.deliver()
  t.same(await shop.wallet(), { balance: 0, held: 0 })
  await shop.till.settle(session)
  await shop.deliver()
  t.same(await shop.wallet(), { balance: 10_000_000, held: 0 })
})

for (const whenDone of [false, true]) {
  const when = whenDone ? 'after' : 'before'
  await t.test(`a top-up that ended ${when} the processor's answer is continued`, async (t) => {
    const shop = await openShop(t)
    Object.assign(shop.failing, { calls: 1, whenDone })
    const body = { amount: '10.00' }
    await t.rejects(shop.post('topup', body, 'order-1'))
    const again = await shop.post('topup', body, 'order-1')
    t.equal(again.status, 201)
    t.equal((await shop.till.count()).checkouts, 1, 'the same session')
    await shop.till.pay(await shop.sessionOf(again))
    await shop.deliver()
    t.same(await shop.wallet(), { balance: 10_000_000, held: 0 })
  })
}

const AMOUNTS: readonly (readonly [AnyBody, string])[] = [
  [{ amount: '4.99' }, 'amount_out_of_range'],
  [{ amount: '1000.01' }, 'amount_out_of_range'],
  [{ amount: '0' }, 'amount_out_of_range'],
  [{ amount: '10.001' }, 'amount_out_of_range'],
  [{ amount_micros: 0 }, 'invalid_request'],
  [{ amount_micros: -1 }, 'invalid_request'],
  [{ amount_micros: 0.5 }, 'invalid_request'],
  [{ amount_micros: 2 ** 53 }, 'invalid_request'],
  [{ amount: '1e3' }, 'invalid_request'],
  [{ amount: '10.0000001' }, 'invalid_request'],
  [{ amount: '10.00', card: '4242424242424242' }, 'invalid_request'],
  [{ amount: '10.00', return_url: 'https://elsewhere.example/' }, 'return_url_not_allowed'],
  [{ amount: '10.00', return_url: 'javascript:alert(1)' }, 'return_url_not_allowed'],
]

await t.test('a top-up of another amount, or to elsewhere, opens nothing', async (t) => {
  const { post, till } = await openShop(t)
  for (const [index, [body, code]] of AMOUNTS.entries()) {
    const answer = await post('topup', body, `order-${index}`)
    t.match(answer, { status: 400, body: { error: { code } } }, JSON.stringify(body))
  }
  t.match(await post('topup', { amount: '10.00' }), {
    status: 400,
    body: { error: { code: 'idempotency_key_required' } },
  })
  t.equal((await till.count()).checkouts, 0)
})

await t.test('Pro begins with its subscription, and its credit with a paid invoice', async (t) => {
  const shop = await openShop(t)
  const { request, post, deliver, wallet, mintKey } = shop
  const mint = () => request('POST', '/v1/keys', { body: { name: 'k', scopes: ['keys:read'] } })
  t.match(await mint(), { status: 403, body: { error: { code: 'dev_api_not_enabled' } } })
  const none = { plan: 'free', monthly_credit: null, subscription: null }
  t.match((await request('GET', '/v1/billing/wallet')).body, none)
  await shop.payPro()
  await deliver({ copies: 2, order: 'random', seed: 'seven' })
  t.same(await wallet(), { balance: PRO, held: 0 })
  await mintKey({ scopes: ['billing:read'] })
  const [live] = await shop.platform.store.payments.subscriptions(shop.account.id)
  const next_at = toIso(live?.current_period_end ?? 0)
  t.match((await request('GET', '/v1/billing/wallet')).body, {
    plan: 'pro',
    mode: 'memory',
    monthly_credit: { amount_micros: PRO, amount: '25.00', next_at },
    subscription: { status: 'active', current_period_end: next_at, cancel_at: null },
  })
  t.match(await post('subscribe', { plan: 'pro' }), {
    status: 409,
    body: { error: { code: 'already_subscribed' } },
  })
  const { data } = (await request<Page>('GET', '/v1/billing/invoices')).body
  t.match(data, [{ status: 'paid', amount_paid_micros: PRO, credit_transaction_id: /./ }])
  t.equal(data.length, 1)
  const told = (await eventsOf(shop)).filter(({ type }) => type === 'billing.subscription_changed')
  t.match(told, [{ data: { plan: 'pro', previous_plan: 'free', status: 'active' } }])
  t.equal(told.length, 1)
  t.same(await shop.verified(), [])
})

await t.test('each month is credited once; an unpaid one ends Pro after seven days', async (t) => {
  const shop = await openShop(t)
  const { till, deliver, wallet, request, clock } = shop
  const subscription = await shop.payPro()
  await deliver()
  await till.cycle(subscription, 'paid')
  await deliver({ copies: 2 })
  t.same(await wallet(), { balance: 2 * PRO, held: 0 })
  await till.prorate(subscription)
  await deliver()
  t.same(await wallet(), { balance: 2 * PRO, held: 0 }, 'a proration brings none')
  await till.cycle(subscription, 'unpaid')
  await deliver()
  t.same(await wallet(), { balance: 2 * PRO, held: 0 })
  const planOf = async () => (await request('GET', '/v1/billing/wallet')).body['plan']
  const [live] = await shop.platform.store.payments.subscriptions(shop.account.id)
  t.equal(live?.status, 'past_due')
  const since = live?.past_due_since ?? 0
  clock.set(since + 7 * DAY - 1 - clock.now())
  t.equal(await planOf(), 'pro')
  clock.set(1)
  t.equal(await planOf(), 'free', 'to the instant, although nothing swept')
  const { store } = shop.platform
  t.equal((await store.accounts.get(shop.account.id))?.plan, 'pro')
  await shop.sweep()
  t.equal((await store.accounts.get(shop.account.id))?.plan, 'free')
  await till.recover(subscription)
  await deliver()
  t.equal(await planOf(), 'pro')
  t.same(await wallet(), { balance: 3 * PRO, held: 0 })
  t.same(await shop.verified(), [])
})

await t.test('a canceled subscription goes on to the end of its period', async (t) => {
  const shop = await openShop(t)
  const { request, deliver, clock, work } = shop
  t.match(await request('DELETE', '/v1/billing/subscription'), {
    status: 409,
    body: { error: { code: 'not_subscribed' } },
  })
  await shop.payPro()
  await deliver()
  const canceled = await request('DELETE', '/v1/billing/subscription')
  t.match(canceled, { status: 200, body: { status: 'active', cancel_at: /Z$/ } })
  await work()
  const again = await request('DELETE', '/v1/billing/subscription')
  t.same(again.body, canceled.body)
  const { cancel_at } = canceled.body
  t.match((await request('GET', '/v1/billing/wallet')).body, {
    plan: 'pro',
    monthly_credit: null,
    subscription: { status: 'active', cancel_at },
  })
  clock.set(Date.parse(String(canceled.body['cancel_at'])) - clock.now())
  t.match((await request('GET', '/v1/billing/wallet')).body, { plan: 'free' })
  await shop.sweep()
  t.equal((await shop.platform.store.accounts.get(shop.account.id))?.plan, 'free')
})

await t.test(
  'requests to subscribe at once open one page, and a new one once it is over',
  async (t) => {
    const shop = await openShop(t)
    const { post, till, deliver, clock } = shop
    const asked = await Promise.all(
      ['a', 'b', 'c'].map((page, at) =>
        post(
          'subscribe',
          { plan: 'pro', success_url: `${shop.baseUrl}/${page}` },
          at === 0 ? 'order-1' : undefined,
        ),
      ),
    )
    t.same(
      asked.map(({ status }) => status),
      [201, 201, 201],
    )
    t.equal(new Set(asked.map(({ body }) => body['session_id'])).size, 1)
    t.equal((await till.count()).checkouts, 1)
    const [first] = asked
    if (first === undefined) throw new Error('there is one')
    await till.expire(await shop.sessionOf(first))
    await deliver()
    const again = await post('subscribe', { plan: 'pro' })
    t.not(again.body['session_id'], first.body['session_id'])
    await till.pay(await shop.sessionOf(again))
    await deliver()
    t.match(await post('subscribe', { plan: 'pro' }), { status: 409 })
    const [live] = await shop.platform.store.payments.subscriptions(shop.account.id)
    await till.end(live?.id ?? '')
    clock.set(1000)
    await deliver()
    const later = await post('subscribe', { plan: 'pro' })
    t.equal(later.status, 201)
    t.not(later.body['session_id'], again.body['session_id'])
  },
)

await t.test('a cancellation ends every subscription of the account', async (t) => {
  const shop = await openShop(t)
  const { processor, till, deliver, request, work, platform, account } = shop
  await shop.payPro()
  const customer = await platform.store.payments.customer(account.id, 'memory')
  const { session_id } = await processor.createCheckout({
    id: 'by hand',
    key: 'by hand',
    kind: 'subscribe',
    amount_micros: null,
    success_url: shop.baseUrl,
    cancel_url: shop.baseUrl,
    customer_id: customer?.customer_id ?? '',
  })
  await till.pay(session_id)
  await deliver()
  const known = () => platform.store.payments.subscriptions(account.id)
  t.equal((await known()).length, 2)
  const canceled = await request('DELETE', '/v1/billing/subscription')
  t.match(canceled, { status: 200, body: { cancel_at: /Z$/ } })
  await work()
  t.ok((await known()).every(({ cancel_at }) => cancel_at !== null))
})

await t.test('the refund of any charge that paid an invoice takes its share back', async (t) => {
  const shop = await openShop(t)
  const { processor, wallet, till, deliver } = shop
  const { fetchFacts } = processor
  const second = await shop.payTopup(10_000_000, 'order-1')
  await till.take()
  const divided = (fact: Fact): Fact => {
    if (fact.kind !== 'invoice') return fact
    const [first] = fact.payments
    if (first === undefined) return fact
    const payments = [
      { ...first, amount_micros: 15_000_000 },
      { charge_id: second, amount_micros: 10_000_000 },
    ]
    return { ...fact, payments }
  }
  const misread: typeof fetchFacts = async (ref, signal) =>
    (await fetchFacts(ref, signal)).map(divided)
  Object.assign(processor, { fetchFacts: misread })
  await shop.payPro()
  await deliver()
  t.same(await wallet(), { balance: PRO, held: 0 })
  await till.refund(second, 10_000_000)
  await deliver()
  t.same(await wallet(), { balance: 15_000_000, held: 0 })
  t.same(await shop.verified(), [])
})

await t.test(
  'where the processor sells no subscriptions, the operator sets the plan',
  async (t) => {
    const capabilities = { subscriptions: false, portal: false, paymentMethods: false }
    const shop = await openShop(t, {}, capabilities)
    const { platform, account, request, operator, clock } = shop
    t.equal(platform.billing.sellsPlan, false)
    await platform.store.write((tx) => tx.accounts.setPlan(account.id, 'pro', clock.now()))
    const plan = async () => (await request('GET', '/v1/billing/wallet')).body['plan']
    t.equal(await plan(), 'pro')
    await shop.sweep()
    t.equal(await plan(), 'pro', 'no sweep ends it')
    t.equal((await platform.store.accounts.get(account.id))?.plan, 'pro')
    const status = await request('GET', '/v1/billing/processor', { as: operator })
    t.match(status.body, { processor: 'memory', other_plans: 0 })
    t.match(await shop.post('subscribe', { plan: 'pro' }), { status: 501 })
  },
)

await t.test('a payment method and the portal are pages of the processor', async (t) => {
  const shop = await openShop(t)
  t.match(await shop.post('portal'), { status: 409, body: { error: { code: 'not_subscribed' } } })
  const setup = await shop.post('payment-method')
  t.match(setup, { status: 201, body: { setup_url: /^https:/ } })
  await shop.till.pay(await shop.sessionOf(setup))
  await shop.deliver()
  const checkout = await shop.platform.store.payments.checkout(String(setup.body['id']))
  t.match(checkout, { status: 'complete' })
  t.match(await shop.post('portal'), { status: 201, body: { url: /^https:/ } })
  t.match(await shop.post('payment-method', { card_number: '4242424242424242' }), { status: 400 })
  t.same(shop.warnings, [])
})

await t.test('a payment method of a session that is not ours is left as it is', async (t) => {
  const shop = await openShop(t)
  const used: string[] = []
  const usePaymentMethod = async (id: string): Promise<void> => void used.push(id)
  const { processor } = Object.assign(shop, {
    processor: Object.assign(shop.processor, { usePaymentMethod }),
  })
  const pages = { success_url: shop.baseUrl, cancel_url: shop.baseUrl, amount_micros: null }
  const { customer_id } = await processor.createCustomer({
    account_id: 'another product',
    email: null,
    key: 'theirs',
  })
  const setup = { ...pages, kind: 'payment_method', customer_id } as const
  const theirs = await processor.createCheckout({ ...setup, id: 'order-1', key: 'theirs-1' })
  const own = await shop.sessionOf(await shop.post('payment-method'))
  const ids = (await shop.platform.store.payments.checkoutOf('memory', own))?.id ?? ''
  const claimed = await processor.createCheckout({ ...setup, id: ids, key: 'theirs-2' })
  for (const id of [theirs.session_id, claimed.session_id]) await shop.till.pay(id)
  await shop.deliver()
  t.same(used, [])
  await shop.till.pay(own)
  await shop.deliver()
  t.same(used, [own])
})

await t.test('a processor that is away answers 503, and the request is sent again', async (t) => {
  const shop = await openShop(t)
  await shop.processor.close?.()
  t.match(await shop.post('subscribe', { plan: 'pro' }), {
    status: 503,
    body: { error: { code: 'processor_unavailable' } },
  })
})

await t.test('without a processor nothing is sold', async (t) => {
  const shop = await openShop(t)
  Object.assign(shop.platform.billing, { processing: undefined })
  for (const [path, body] of [
    ['topup', { amount: '10.00' }],
    ['subscribe', { plan: 'pro' }],
    ['payment-method', {}],
    ['portal', {}],
  ] as const) {
    t.match(await shop.post(path, body, 'key-1'), {
      status: 501,
      body: { error: { code: 'billing_not_configured' } },
    })
  }
})

await t.test('a key of all scopes buys nothing', async (t) => {
  const shop = await openShop(t)
  await shop.payPro()
  await shop.deliver()
  const { key } = await shop.mintKey({ scopes: ['*:*'] })
  for (const [method, path, body] of OWNER_CHANGES) {
    const headers = { 'idempotency-key': `key-${path}` }
    const answer = await shop.request(method, `/v1/billing/${path}`, { as: key, body, headers })
    t.match(answer, { status: 403, body: { error: { code: 'owner_required' } } }, path)
  }
})

await t.test('invoices of another account are not found', async (t) => {
  const shop = await openShop(t)
  await shop.payPro()
  await shop.deliver()
  const { data } = (await shop.request<Page>('GET', '/v1/billing/invoices')).body
  const path = `/v1/billing/invoices/${String(data[0]?.['id'])}`
  t.match(await shop.request('GET', path), { status: 200, body: { currency: 'USD' } })
  const stranger = shop.userOf(await shop.addAccount())
  t.match(await shop.request('GET', path, { as: stranger }), {
    status: 404,
    body: { error: { code: 'invoice_not_found' } },
  })
  const theirs = await shop.request<Page>('GET', '/v1/billing/invoices', { as: stranger })
  t.same(theirs.body.data, [])
})

await t.test('what is past due is told with its end', async (t) => {
  const shop = await openShop(t)
  const subscription = await shop.payPro()
  await shop.till.cycle(subscription, 'unpaid')
  await shop.deliver()
  const told = (await eventsOf(shop)).filter(({ type }) => type === 'billing.subscription_changed')
  const last = told.at(0)?.data as AnyBody
  t.match(last, { plan: 'pro', status: 'past_due', past_due_until: /Z$/ })
  t.ok(String(last['past_due_until']) >= toIso(START + 7 * DAY))
})
