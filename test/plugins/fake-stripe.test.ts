import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { API_VERSION } from '../../plugins/billing/stripe/client.ts'
import type { FakeStripe } from '../fake-stripe/fake.ts'
import { FAKE_KEY, FAKE_PRICE, NOTICE } from '../fake-stripe/names.ts'
import { startFakeStripe } from '../fake-stripe/server.ts'

const HEADERS = {
  authorization: `Bearer ${FAKE_KEY}`,
  'stripe-version': API_VERSION,
  'content-type': 'application/x-www-form-urlencoded',
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
  readonly error: Readonly<Record<string, unknown>>
}

async function start(t: { teardown(handler: () => Promise<void>): void }): Promise<FakeStripe> {
  const fake = await startFakeStripe({ version: API_VERSION })
  t.teardown(() => fake.close())
  return fake
}

async function ask(
  { url }: FakeStripe,
  path: string,
  form?: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const answer = await fetch(`${url}${path}`, {
    headers: { ...HEADERS, ...headers },
    ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form).toString() }),
  })
  const body = (await answer.json()) as Record<string, unknown>
  const error = (body['error'] ?? {}) as Record<string, unknown>
  return { status: answer.status, headers: answer.headers, body, error }
}

async function control(
  { url }: FakeStripe,
  path: string,
  given: object = {},
): Promise<{ readonly status: number; readonly answer: Record<string, unknown> }> {
  const answer = await fetch(`${url}/fake/${path}`, { method: 'POST', body: JSON.stringify(given) })
  const body = (await answer.json()) as { answer: Record<string, unknown> }
  return { status: answer.status, answer: body.answer }
}

const SESSION = {
  mode: 'payment',
  success_url: 'http://127.0.0.1:1/done',
  'line_items[0][quantity]': '1',
  'line_items[0][price_data][currency]': 'usd',
  'line_items[0][price_data][unit_amount]': '1000',
  'line_items[0][price_data][product_data][name]': 'Credit',
}

await t.test('it refuses what the service would refuse', async (t) => {
  const fake = await start(t)
  const REFUSED: Readonly<
    Record<
      string,
      readonly [
        status: number,
        error: object,
        path: string,
        form?: Readonly<Record<string, string>> | undefined,
        headers?: Readonly<Record<string, string>>,
      ]
    >
  > = {
    'no key': [401, {}, '/v1/customers', undefined, { authorization: '' }],
    'another key': [401, {}, '/v1/customers', undefined, { authorization: 'Bearer sk_test_other' }],
    'another version': [400, {}, '/v1/customers', undefined, { 'stripe-version': '2020-08-27' }],
    JSON: [400, {}, '/v1/customers', {}, { 'content-type': 'application/json' }],
    'an unknown path': [404, {}, '/v1/nothing'],
    'a path without an object': [404, { code: 'resource_missing' }, '/v1/customers/cus_gone'],
    'an unknown parameter': [
      400,
      { code: 'parameter_unknown', param: 'card' },
      '/v1/customers',
      { card: '4242' },
    ],
    'an unknown parameter within': [
      400,
      { code: 'parameter_unknown', param: 'line_items[0][price_data][tip]' },
      '/v1/checkout/sessions',
      { ...SESSION, 'line_items[0][price_data][tip]': '1' },
    ],
    'an unknown parameter of a read': [400, { code: 'parameter_unknown' }, '/v1/events?since=5'],
    'a missing parameter': [
      400,
      { code: 'parameter_missing', param: 'mode' },
      '/v1/checkout/sessions',
      { success_url: SESSION.success_url },
    ],
    'an amount of 0': [400, {}, '/v1/checkout/sessions', priced('0')],
    'a fraction': [400, {}, '/v1/checkout/sessions', priced('10.5')],
    'an amount below 0': [400, {}, '/v1/checkout/sessions', priced('-100')],
    'too small an amount': [
      400,
      { code: 'amount_too_small' },
      '/v1/checkout/sessions',
      priced('49'),
    ],
    'too large an amount': [
      400,
      { code: 'amount_too_large' },
      '/v1/checkout/sessions',
      priced('100000000'),
    ],
    'a currency in upper case': [
      400,
      {},
      '/v1/checkout/sessions',
      { ...SESSION, 'line_items[0][price_data][currency]': 'USD' },
    ],
    'a last digit other than 0 with three decimals': [
      400,
      {},
      '/v1/checkout/sessions',
      { ...priced('1001'), 'line_items[0][price_data][currency]': 'kwd' },
    ],
    'a customer that is not there': [
      400,
      { code: 'resource_missing', param: 'customer' },
      '/v1/checkout/sessions',
      { ...SESSION, customer: 'cus_gone' },
    ],
    'a recurring price for a payment': [
      400,
      {},
      '/v1/checkout/sessions',
      {
        mode: 'payment',
        success_url: SESSION.success_url,
        'line_items[0][price]': FAKE_PRICE,
        'line_items[0][quantity]': '1',
      },
    ],
    'a single price for a subscription': [
      400,
      {},
      '/v1/checkout/sessions',
      { ...SESSION, mode: 'subscription' },
    ],
    'goods for a setup': [
      400,
      { param: 'line_items' },
      '/v1/checkout/sessions',
      { ...SESSION, mode: 'setup', currency: 'usd' },
    ],
    'a page that is no URL': [
      400,
      {},
      '/v1/checkout/sessions',
      { ...SESSION, success_url: '/done' },
    ],
    'an end too soon': [
      400,
      { param: 'expires_at' },
      '/v1/checkout/sessions',
      { ...SESSION, expires_at: String(Math.floor(Date.now() / 1000) + 60) },
    ],
    'more than 20 types': [
      400,
      {},
      `/v1/events?${Array.from({ length: 21 }, (_, at) => `types[${at}]=a.b`).join('&')}`,
    ],
    'more than 100 of a page': [400, {}, '/v1/events?limit=101'],
    'a page after nothing': [
      400,
      { code: 'resource_missing' },
      '/v1/events?starting_after=evt_gone',
    ],
    'an expansion of nothing': [
      400,
      { param: 'expand' },
      `/v1/prices/${FAKE_PRICE}?expand[0]=card`,
    ],
  }
  for (const [title, [status, error, path, form, headers]] of Object.entries(REFUSED)) {
    const answer = await ask(fake, path, form, headers)
    t.equal(answer.status, status, title)
    t.match(answer.error, error, title)
    t.match(answer.error['message'], /^Fake Stripe: /)
  }
  t.equal(fake.state.all('sessions').length, 0)
})

function priced(amount: string): Readonly<Record<string, string>> {
  return { ...SESSION, 'line_items[0][price_data][unit_amount]': amount }
}

await t.test('a key answers the same request the same, and no other', async (t) => {
  const fake = await start(t)
  const key = { 'idempotency-key': 'key-1' }
  const first = await ask(fake, '/v1/checkout/sessions', SESSION, key)
  t.equal(first.status, 200)
  t.equal(first.headers.get('idempotent-replayed'), null)
  const again = await ask(fake, '/v1/checkout/sessions', SESSION, key)
  t.equal(again.headers.get('idempotent-replayed'), 'true')
  t.same(again.body, first.body)
  const other = await ask(fake, '/v1/checkout/sessions', priced('2000'), key)
  t.equal(other.status, 400)
  t.equal(other.error['type'], 'idempotency_error')
  const elsewhere = await ask(fake, '/v1/customers', {}, key)
  t.equal(elsewhere.error['type'], 'idempotency_error')
  t.equal(fake.state.all('sessions').length, 1)
  const refused = await ask(fake, '/v1/checkout/sessions', priced('0'), {
    'idempotency-key': 'key-2',
  })
  t.equal(refused.status, 400)
  const mended = await ask(fake, '/v1/checkout/sessions', SESSION, { 'idempotency-key': 'key-2' })
  t.equal(mended.status, 200, 'a refusal uses no key up')
  fake.faults.add({ kind: 'hang' })
  const begun = fake.faults.next()
  const cancel = new AbortController()
  const hanging = fetch(`${fake.url}/v1/customers`, {
    method: 'POST',
    headers: { ...HEADERS, 'idempotency-key': 'key-3' },
    signal: cancel.signal,
  }).catch(() => undefined)
  await begun
  const meanwhile = await ask(fake, '/v1/customers', {}, { 'idempotency-key': 'key-3' })
  t.equal(meanwhile.status, 409, 'in progress')
  cancel.abort()
  await hanging
})

await t.test('people, banks and time are played over HTTP too', async (t) => {
  const fake = await start(t)
  const { body: customer } = await ask(fake, '/v1/customers', { email: 'a@example.com' })
  const id = String(customer['id'])
  const form = {
    mode: 'subscription',
    customer: id,
    success_url: SESSION.success_url,
    'line_items[0][price]': FAKE_PRICE,
    'line_items[0][quantity]': '1',
  }
  const opened = await ask(fake, '/v1/checkout/sessions', form)
  const session = String(opened.body['id'])
  const paid = await control(fake, `checkout/${session}/pay`)
  t.match(paid, { status: 200, answer: { status: 'complete', payment_status: 'paid' } })
  t.equal((await control(fake, `checkout/${session}/pay`)).status, 400, 'once')
  const subscription = String(paid.answer['subscription'])
  const failed = await control(fake, `subscriptions/${subscription}/fail`)
  t.match(failed.answer, { status: 'open', billing_reason: 'subscription_cycle' })
  await control(fake, `subscriptions/${subscription}/recover`)
  const invoices = await ask(fake, `/v1/invoices?subscription=${subscription}&status=paid`)
  t.equal((invoices.body['data'] as unknown[]).length, 2)
  const charge = fake.state.all('charges')[0]?.id ?? ''
  const refunded = await control(fake, `charges/${charge}/refund`, { amount: 500 })
  t.match(refunded.answer, { amount: 500, status: 'succeeded' })
  t.equal((await control(fake, `charges/${charge}/refund`, { amount: 5000 })).status, 400)
  const disputed = await control(fake, `charges/${charge}/dispute`, { amount: 100 })
  await control(fake, `disputes/${String(disputed.answer['id'])}/win`)
  t.equal((await control(fake, 'nothing/x/y')).status, 404)
  const seen = await control(fake, 'requests')
  t.match((seen.answer['data'] as unknown[])[0], { method: 'POST', path: '/v1/customers' })
  const { answer: events } = await control(fake, 'events')
  const types = (events['data'] as readonly { readonly type: string }[]).map(({ type }) => type)
  for (const type of ['invoice.paid', 'charge.refunded', 'charge.dispute.funds_reinstated']) {
    t.ok(types.includes(type), type)
  }
})

await t.test('every page and every answer says that it is a fake', async (t) => {
  const fake = await start(t)
  const { body } = await ask(fake, '/v1/checkout/sessions', SESSION)
  const page = String(body['url'])
  for (const path of [
    page,
    `${fake.url}/p/session/cus_1`,
    `${fake.url}/elsewhere`,
    `${fake.url}/c/pay/cs_gone`,
  ]) {
    const answer = await fetch(path)
    t.equal(answer.headers.get('fake-stripe'), '1', path)
    t.match(await answer.text(), `<title>${NOTICE}</title>`)
  }
  t.equal((await ask(fake, '/v1/nothing')).headers.get('fake-stripe'), '1')
  const press = (name: string): Promise<Response> =>
    fetch(page, { method: 'POST', body: new URLSearchParams({ do: name }), redirect: 'manual' })
  t.equal((await press('nothing')).status, 400)
  const left = await press('leave')
  t.equal(left.status, 303)
  t.equal(fake.state.all('sessions')[0]?.status, 'open')
  const paid = await press('pay')
  t.equal(paid.headers.get('location'), SESSION.success_url)
  t.equal(fake.state.all('sessions')[0]?.status, 'complete')
})

await t.test(
  'events are signed and sent until they are taken, held, repeated and lost on demand',
  async (t) => {
    const received: { readonly type: string; readonly signature: string }[] = []
    let refusals = 1
    const intake = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += String(chunk)))
      request.on('end', () => {
        refusals -= 1
        response.statusCode = refusals >= 0 ? 503 : 200
        response.end()
        const { type } = JSON.parse(body) as { type: string }
        const signature = String(request.headers['stripe-signature'])
        if (response.statusCode === 200) received.push({ type, signature })
      })
    })
    await new Promise<void>((resolve) => intake.listen(0, '127.0.0.1', resolve))
    t.teardown(() => new Promise((resolve) => intake.close(resolve)))
    const { port } = intake.address() as AddressInfo
    const webhook = `http://127.0.0.1:${port}/hooks/billing/stripe`
    const fake = await startFakeStripe({ version: API_VERSION, webhook })
    t.teardown(() => fake.close())
    await ask(fake, '/v1/customers', {})
    await fake.outbox.settled()
    t.equal(received.length, 1, 'after a 503')
    t.match(received[0]?.signature, /^t=\d+,v1=[0-9a-f]{64}$/)
    t.same(
      fake.outbox.attempts.map(({ status }) => status),
      [503, 200],
    )
    await control(fake, 'events/hold')
    for (let at = 0; at < 3; at += 1) await ask(fake, '/v1/customers', {})
    t.equal(received.length, 1)
    await control(fake, 'events/release', { copies: 2, order: 'reverse', lose: 1 })
    t.equal(received.length, 5)
  },
)
