import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { hostname, platform, release } from 'node:os'
import t from 'tap'
import { Stripe } from 'stripe'
import {
  checkoutOf,
  customerOf,
  failureOf,
  NEVER,
  openCheckout,
  paidSubscription,
  shownBy,
  TEN,
} from '../../plugins/billing/conformance/till.ts'
import { DAY } from '../../lib/time.ts'
import type { ChangedPage, ProcessorErrorCode } from '../../plugins/billing/contract.ts'
import { API_VERSION } from '../../plugins/billing/stripe/client.ts'
import type { Fault } from '../fake-stripe/faults.ts'
import { FAKE_ACCOUNT, FAKE_KEY, FAKE_PRICE, FAKE_SECRET } from '../fake-stripe/names.ts'
import { createClock } from '../support/clock.ts'
import {
  clockOf,
  guardedFetch,
  openStripe,
  SECRETS,
  settingsOf,
  stripeHarness,
} from '../support/stripe.ts'

type Harness = Awaited<ReturnType<typeof stripeHarness>>

/** Stripe over a fake of its own, which ends with the test. */
async function open(
  t: { teardown(handler: () => Promise<void>): void },
  ...args: Parameters<typeof stripeHarness>
): Promise<Harness> {
  const harness = await stripeHarness(...args)
  t.teardown(async () => harness.close?.())
  return harness
}

/** The keys and the number of the requests that reached the fake since `from`. */
function asked({ fake }: Harness, from: number): readonly (string | undefined)[] {
  return fake.requests.slice(from).map(({ key }) => key)
}

await t.test('the API version is the one that the package was made for', (t) => {
  t.equal(API_VERSION, Stripe.API_VERSION, 'another version of the package is a decision')
  t.end()
})

await t.test('requests have these headers and no others', async (t) => {
  const warnings: unknown[] = []
  const onWarning = (warning: unknown): void => void warnings.push(warning)
  process.on('warning', onWarning)
  const spawned: unknown[] = []
  const onSpawn = (child: unknown): void => void spawned.push(child)
  subscribe('child_process', onSpawn)
  const harness = await open(t)
  const customer = await customerOf(harness)
  await harness.processor.createCheckout(checkoutOf(customer, 'topup'))
  await harness.processor.fetchFacts({ kind: 'charge', id: 'ch_gone' }, NEVER)
  const [created, , read] = harness.sent
  t.same(Object.fromEntries(created?.headers ?? []), {
    accept: 'application/json',
    authorization: `Bearer ${FAKE_KEY}`,
    'content-type': 'application/x-www-form-urlencoded',
    'idempotency-key': 'keyhook-customer-acc_1',
    'stripe-version': API_VERSION,
    'user-agent': 'Keyhook',
  })
  t.notOk(
    read?.headers.some(([name]) => name === 'idempotency-key'),
    'reads need none',
  )
  const told = JSON.stringify(harness.sent)
  for (const machine of [hostname(), process.version, release(), `"${platform()}"`]) {
    t.notOk(told.includes(machine), 'nothing of the machine')
  }
  for (const { url } of harness.sent) t.equal(new URL(url).origin, harness.fake.url)
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', onWarning)
  unsubscribe('child_process', onSpawn)
  t.same(spawned, [], 'nothing asks the machine what it is')
  t.same(warnings, [], 'notices of the service are not printed')
})

await t.test('what is sent names our objects and no card', async (t) => {
  const harness = await open(t)
  const customer = await customerOf(harness)
  const sent = (at: number) =>
    Object.fromEntries(new URLSearchParams(harness.fake.requests[at]?.body))
  t.same(sent(0), { email: 'owner@example.com', 'metadata[keyhook_account]': 'acc_1' })
  const common = {
    cancel_url: 'https://keyhook.example.com/billing/canceled',
    customer,
    success_url: 'https://keyhook.example.com/billing/done',
  }
  await harness.processor.createCheckout(checkoutOf(customer, 'topup'))
  t.same(sent(1), {
    ...common,
    'adaptive_pricing[enabled]': 'false',
    client_reference_id: 'checkout-topup',
    'line_items[0][price_data][currency]': 'usd',
    'line_items[0][price_data][product_data][name]': 'Credit',
    'line_items[0][price_data][unit_amount]': '1000',
    'line_items[0][quantity]': '1',
    mode: 'payment',
    'payment_intent_data[metadata][keyhook_checkout]': 'checkout-topup',
  })
  await harness.processor.createCheckout(checkoutOf(customer, 'subscribe'))
  t.same(sent(2), {
    ...common,
    'adaptive_pricing[enabled]': 'false',
    client_reference_id: 'checkout-subscribe',
    'line_items[0][price]': FAKE_PRICE,
    'line_items[0][quantity]': '1',
    mode: 'subscription',
    'subscription_data[metadata][keyhook_checkout]': 'checkout-subscribe',
  })
  await harness.processor.createCheckout(checkoutOf(customer, 'payment_method'))
  t.same(sent(3), {
    ...common,
    client_reference_id: 'checkout-payment_method',
    currency: 'usd',
    mode: 'setup',
  })
})

await t.test('whatever goes wrong has its code, and no secret or card is in it', async (t) => {
  const harness = await open(t)
  const customer = await customerOf(harness)
  const echo = (code: string) => ({
    error: {
      type: FAKE_KEY,
      code,
      message: `Wrong: ${SECRETS.join(' ')}`,
      param: FAKE_KEY,
      decline_code: FAKE_KEY,
      payment_method: { card: { number: SECRETS[2] } },
      payment_intent: { client_secret: FAKE_SECRET },
    },
  })
  const FAULTS: Readonly<Record<string, readonly [ProcessorErrorCode, Fault, number]>> = {
    'a wrong key, which the service repeats': [
      'misconfigured',
      { kind: 'status', status: 401, body: echo(FAKE_KEY) },
      1,
    ],
    'a key that may not do this': ['misconfigured', { kind: 'status', status: 403 }, 1],
    'an object that is not there': ['not_found', { kind: 'status', status: 404 }, 1],
    'a parameter that names none': [
      'not_found',
      { kind: 'status', status: 400, body: echo('resource_missing') },
      1,
    ],
    'a wrong request': ['rejected', { kind: 'status', status: 400, body: echo('bad') }, 1],
    'a declined card': [
      'rejected',
      { kind: 'status', status: 402, body: echo('card_declined') },
      1,
    ],
    'a conflict': ['unavailable', { kind: 'status', status: 409, times: 9 }, 3],
    'a 429': ['unavailable', { kind: 'status', status: 429, times: 9 }, 3],
    'a 500 that repeats everything': [
      'unavailable',
      { kind: 'status', status: 500, times: 9, body: echo(FAKE_KEY) },
      3,
    ],
    'a 500 without an error': [
      'unavailable',
      { kind: 'status', status: 500, times: 9, body: { id: 'cs_1', url: 'x', expires_at: 1 } },
      3,
    ],
    'a redirect': ['unavailable', { kind: 'redirect', times: 9 }, 3],
    'a broken connection': ['unavailable', { kind: 'reset', times: 9 }, 3],
    'a malformed answer': ['unavailable', { kind: 'malformed', times: 9 }, 3],
    'an answer of another form': ['unavailable', { kind: 'empty', times: 9 }, 1],
  }
  for (const [title, [code, fault, requests]] of Object.entries(FAULTS)) {
    harness.fake.faults.clear()
    harness.fake.faults.add(fault)
    const from = harness.fake.requests.length
    const request = checkoutOf(customer, 'topup', { id: title })
    const failure = await failureOf(harness.processor.createCheckout(request), code)
    const keys = asked(harness, from)
    t.equal(keys.length, requests, title)
    t.same(new Set(keys), new Set([request.key]), 'always with the same key')
    for (const secret of SECRETS) t.notOk(shownBy(failure).includes(secret), title)
  }
  harness.fake.faults.clear()
  t.equal(harness.fake.state.all('sessions').length, 0)
  const refused = openStripe({
    settings: settingsOf('http://127.0.0.1:9'),
    fetch: () =>
      Promise.reject(Object.assign(new Error('no'), { internal: '127.0.0.1:9: refused' })),
  })
  const gone = await failureOf(
    (await refused).fetchFacts({ kind: 'charge', id: 'ch_1' }, NEVER),
    'unavailable',
  )
  t.match(gone.internal, /127\.0\.0\.1:9: refused/)
  const final = await openStripe({
    fetch: () => Promise.reject(Object.assign(new Error('no'), { final: true, internal: 'tls' })),
  })
  await failureOf(final.fetchFacts({ kind: 'charge', id: 'ch_1' }, NEVER), 'misconfigured')
  const guarded = await guardedFetch(harness.fake.url)
  t.teardown(() => guarded.close())
  const stranger = await openStripe({
    settings: settingsOf(harness.fake.url, { KEYHOOK_STRIPE_API_KEY: 'sk_test_another' }),
    fetch: guarded.fetch,
  })
  await failureOf(stranger.fetchFacts({ kind: 'charge', id: 'ch_1' }, NEVER), 'misconfigured')
  const elsewhere = await openStripe({
    settings: settingsOf('http://[::1]:9'),
    fetch: guarded.fetch,
  })
  const unlisted = elsewhere.fetchFacts({ kind: 'charge', id: 'ch_1' }, NEVER)
  await failureOf(unlisted, 'misconfigured')
})

await t.test(
  'an answer that is lost is asked for again with the same key: nothing is done twice',
  async (t) => {
    const waits: number[] = []
    const harness = await open(t, {}, { clock: clockOf(waits) })
    harness.fake.faults.add({ kind: 'lost', path: '/v1/customers' })
    const customer = await customerOf(harness)
    harness.fake.faults.add({ kind: 'lost', path: '/v1/checkout', times: 2 })
    const request = checkoutOf(customer, 'topup')
    const session = await harness.processor.createCheckout(request)
    t.same(await harness.processor.createCheckout(request), session)
    t.same(await harness.till.count(), { customers: 1, checkouts: 1 })
    t.same(asked(harness, 2), Array<string>(4).fill(request.key))
    t.same(waits, [500, 500, 1000], 'longer each time')
  },
)

await t.test(
  'a failure that the service keeps for a key is left behind with another key',
  async (t) => {
    const harness = await open(t)
    harness.fake.faults.add({ kind: 'kept' })
    const customer = await customerOf(harness)
    const key = 'keyhook-customer-acc_1'
    t.same(asked(harness, 0), [key, key, `${key}-again`])
    t.equal(await customerOf(harness), customer, 'the same again')
    t.same(asked(harness, 3), [key, `${key}-again`])
    t.same(await harness.till.count(), { customers: 1, checkouts: 0 })
  },
)

await t.test('another request with the same key is rejected', async (t) => {
  const harness = await open(t)
  const customer = await customerOf(harness)
  const request = checkoutOf(customer, 'topup')
  await harness.processor.createCheckout(request)
  const other = { ...request, amount_micros: 2 * TEN }
  const failure = await failureOf(harness.processor.createCheckout(other), 'rejected')
  t.match(failure.internal, /status 400/)
})

await t.test('a peer that hangs is left after 10 s, and a call after 20', async (t) => {
  const clock = createClock(Date.now())
  const harness = await open(t, {}, { clock })
  const { faults, requests } = harness.fake
  for (const kind of ['hang', 'endless'] as const) {
    const from = requests.length
    faults.add({ kind, times: 9 })
    const first = faults.next()
    const failed = failureOf(
      harness.processor.fetchFacts({ kind: 'charge', id: 'ch_1' }, NEVER),
      'unavailable',
    )
    await first
    t.equal(requests[from]?.isAborted, false)
    const second = faults.next()
    await clock.advance(9999)
    t.equal(requests.length, from + 1)
    await clock.advance(1)
    await until(() => clock.timers > 1)
    await clock.advance(500)
    await second
    t.equal(requests.length, from + 2)
    await until(() => requests[from]?.isAborted === true)
    await clock.advance(9500)
    const failure = await failed
    t.match(failure.internal, /20000 ms/)
    await until(() => requests[from + 1]?.isAborted === true)
    t.equal(requests.length, from + 2, 'and asked no more')
    t.equal(clock.timers, 0)
    faults.clear()
  }
})

await t.test('a signal ends the exchange at the peer too', async (t) => {
  const harness = await open(t)
  const abort = new AbortController()
  const begun = harness.till.hang()
  const call = harness.processor.fetchFacts({ kind: 'charge', id: 'ch_1' }, abort.signal)
  await begun
  const reason = new Error('nobody waits')
  abort.abort(reason)
  await t.rejects(call, reason)
  await until(() => harness.fake.requests.at(-1)?.isAborted === true)
  t.equal(harness.fake.requests.length, 1)
})

await t.test('a new payment method is what the subscription charges from then on', async (t) => {
  const harness = await open(t)
  const { state } = harness.fake
  const subscription = await paidSubscription(harness)
  const before = state.get('subscriptions', subscription).default_payment_method
  const { session_id } = await openCheckout(harness, 'payment_method')
  await harness.till.pay(session_id)
  await harness.processor.usePaymentMethod(session_id, 'keyhook-method-1')
  const { default_payment_method: after, customer } = state.get('subscriptions', subscription)
  t.not(after, before)
  t.equal(state.get('customers', customer).invoice_settings.default_payment_method, after)
  await harness.till.cycle(subscription, 'paid')
  t.equal(state.all('charges')[0]?.payment_method, after)
})

await t.test('what was paid is found when its events are no longer listed', async (t) => {
  const harness = await open(t)
  const since = harness.now()
  const { session_id } = await openCheckout(harness, 'topup')
  await harness.till.pay(session_id)
  const subscription = await paidSubscription(harness)
  await harness.till.pass(31 * DAY)
  const found: string[] = []
  let cursor: string | null = null
  do {
    const page: ChangedPage = await harness.processor.changedSince(since, cursor, NEVER)
    found.push(...page.refs.map(({ kind, id }) => `${kind} ${id}`))
    cursor = page.cursor
  } while (cursor !== null)
  const sessions = harness.fake.state.all('sessions').map(({ id }) => `checkout ${id}`)
  const invoice = harness.fake.state.get('subscriptions', subscription).latest_invoice
  t.same(found.sort(), [...sessions, `invoice ${invoice}`].sort())
  const unknown = harness.processor.changedSince(since, 'nothing', NEVER)
  await failureOf(unknown, 'rejected')
})

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve))
}

await t.test(
  'subscribers of an earlier price keep the plan; the first price is sold',
  async (t) => {
    const harness = await open(t)
    const subscription = await paidSubscription(harness)
    const [invoice] = harness.fake.state.all('invoices')
    const kinds = { subscription, invoice: invoice?.id ?? '' } as const
    const planOf = async (prices: string) => {
      const ports = { settings: { KEYHOOK_STRIPE_PRICE_PRO: prices } }
      const settings = settingsOf(harness.fake.url, ports.settings)
      const guarded = await guardedFetch(harness.fake.url)
      t.teardown(() => guarded.close())
      const processor = await openStripe({ fetch: guarded.fetch, settings })
      const facts = await Promise.all(
        (['subscription', 'invoice'] as const).map((kind) =>
          processor.fetchFacts({ kind, id: kinds[kind] }, NEVER),
        ),
      )
      return facts.flat().map((fact) => 'is_plan' in fact && fact.is_plan)
    }
    t.same(await planOf('price_new'), [false, false])
    t.same(await planOf(`price_new, ${FAKE_PRICE}`), [true, true])
    t.same(await planOf(`${FAKE_PRICE},price_old`), [true, true])
  },
)

await t.test('each charge that paid an invoice is told, with what it paid', async (t) => {
  const harness = await open(t)
  await paidSubscription(harness)
  const { state } = harness.fake
  const [invoice] = state.all('invoices')
  const [first] = state.all('invoice_payments')
  if (invoice === undefined || first === undefined) throw new Error('it is paid')
  const [intent] = state.all('payment_intents')
  if (intent === undefined) throw new Error('an intent paid it')
  state.add('payment_intents', { ...intent, id: 'pi_second', latest_charge: 'ch_second' })
  state.add('invoice_payments', { ...first, amount_paid: 1000 })
  const payment = { type: 'payment_intent', payment_intent: 'pi_second' } as const
  state.add('invoice_payments', { ...first, id: 'inpay_second', amount_paid: 1500, payment })
  state.add('invoice_payments', { ...first, id: 'inpay_canceled', status: 'canceled' })
  const [fact] = await harness.processor.fetchFacts({ kind: 'invoice', id: invoice.id }, NEVER)
  const payments = fact?.kind === 'invoice' ? [...fact.payments] : []
  t.same(
    payments.sort((a, b) => a.amount_micros - b.amount_micros),
    [
      { charge_id: intent.latest_charge, amount_micros: 10_000_000 },
      { charge_id: 'ch_second', amount_micros: 15_000_000 },
    ],
  )
})

await t.test('it says whose account it is, and whether money moves', async (t) => {
  const harness = await open(t)
  const told = { account_id: FAKE_ACCOUNT, live: false }
  t.same(await harness.processor.identify?.(NEVER), told)
  const away = await openStripe({})
  t.same(await away.identify?.(NEVER), { account_id: null, live: false })
  const KEYHOOK_STRIPE_API_KEY = 'sk_live_a1'
  const live = await openStripe({
    settings: settingsOf('https://api.stripe.com', { KEYHOOK_STRIPE_API_KEY }),
  })
  t.same(await live.identify?.(NEVER), { account_id: null, live: true })
})
