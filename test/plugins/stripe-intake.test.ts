import t from 'tap'
import { failureOf } from '../../plugins/billing/conformance/till.ts'
import { microsOf, minorOf } from '../../plugins/billing/stripe/amounts.ts'
import { FAKE_KEY, FAKE_SECRET } from '../fake-stripe/names.ts'
import { Outbox } from '../fake-stripe/outbox.ts'
import { openStripe, settingsOf } from '../support/stripe.ts'

const NOW = Date.UTC(2026, 10, 24, 12)
const BASE = 'http://127.0.0.1:9'
const OTHER = 'whsec_rotated0123456789'

const outbox = new Outbox({ webhook: undefined, secret: FAKE_SECRET, now: () => NOW })
const EVENT = {
  id: 'evt_1',
  type: 'checkout.session.completed',
  created: NOW / 1000 - 5,
  data: { object: { id: 'cs_1', object: 'checkout.session' } },
}
const bytesOf = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value))
const stripe = await openStripe({})
const rotating = await openStripe({
  settings: settingsOf(BASE, { KEYHOOK_STRIPE_WEBHOOK_SECRET: `${OTHER} , ${FAKE_SECRET}` }),
})

await t.test('a signature by any of the secrets is right, by another none', async (t) => {
  const body = bytesOf(EVENT)
  const event = {
    id: 'evt_1',
    type: EVENT.type,
    created_at: NOW - 5000,
    refs: [{ kind: 'checkout', id: 'cs_1' }],
  }
  for (const secret of [FAKE_SECRET, OTHER]) {
    t.same(await rotating.receive({ ...outbox.sign(body, NOW, secret), now: NOW }), event)
  }
  const foreign = { ...outbox.sign(body, NOW, 'whsec_foreign'), now: NOW }
  await failureOf(rotating.receive(foreign), 'invalid_signature')
  const other = { ...outbox.sign(body, NOW, OTHER), now: NOW }
  await failureOf(stripe.receive(other), 'invalid_signature')
})

await t.test('every other header is refused', async (t) => {
  const body = bytesOf(EVENT)
  const right = outbox.sign(body, NOW).headers['stripe-signature'] ?? ''
  const [time = '', mac = ''] = right.split(',')
  const old = outbox.sign(body, NOW - 301_000).headers['stripe-signature'] ?? ''
  const [oldTime = ''] = old.split(',')
  const HEADERS: Readonly<Record<string, string | undefined>> = {
    'no header': undefined,
    'an empty one': '',
    'no time': mac,
    'no signature': time,
    'an empty signature': `${time},v1=`,
    'another scheme': right.replace('v1=', 'v0='),
    'an old one': old,
    'the time of now before an old signature': `${time},${old}`,
    'the signature of now with an old time': `${oldTime},${mac}`,
    'two times': `${oldTime},${right}`,
    'a time that is no number': `t=now,${mac}`,
    'a time below 0': `t=-1,${mac}`,
    'a time that overflows': `t=99999999999999999999,${mac}`,
    'half of a signature': right.slice(0, -32),
    'a signature in upper case': `${time},${mac.toUpperCase()}`,
  }
  for (const [title, header] of Object.entries(HEADERS)) {
    const headers = { 'stripe-signature': header }
    const failed = await failureOf(stripe.receive({ headers, body, now: NOW }), 'invalid_signature')
    t.notOk(JSON.stringify(failed).includes('cs_1'), `${title}: the body is not repeated`)
  }
  const headers = { 'stripe-signature': `${right},v1=${'0'.repeat(64)}` }
  t.equal((await stripe.receive({ headers, body, now: NOW })).id, 'evt_1', 'one of two fits')
})

await t.test('each event names its object, whole or by id, and others none', async (t) => {
  const TYPES: Readonly<Record<string, readonly [object, string]>> = {
    'checkout.session.completed': [{ id: 'cs_1' }, 'checkout cs_1'],
    'checkout.session.async_payment_succeeded': [{ id: 'cs_1' }, 'checkout cs_1'],
    'checkout.session.async_payment_failed': [{ id: 'cs_1' }, 'checkout cs_1'],
    'checkout.session.expired': [{ id: 'cs_1' }, 'checkout cs_1'],
    'invoice.paid': [{ id: 'in_1', charge: 'ch_1' }, 'invoice in_1'],
    'invoice.voided': [{ id: 'in_1' }, 'invoice in_1'],
    'customer.subscription.deleted': [{ id: 'sub_1' }, 'subscription sub_1'],
    'charge.refunded': [{ id: 'ch_1' }, 'charge ch_1'],
    'refund.failed': [{ id: 're_1', charge: 'ch_1' }, 'charge ch_1'],
    'refund.updated': [{ id: 're_1', charge: null }, ''],
    'charge.dispute.created': [{ id: 'du_1', charge: { id: 'ch_1' } }, 'charge ch_1'],
    'charge.dispute.funds_reinstated': [{ id: 'du_1', charge: 'ch_1' }, 'charge ch_1'],
    'invoice.payment_succeeded': [{ id: 'in_1' }, ''],
    'payment_intent.succeeded': [{ id: 'pi_1' }, ''],
    'payout.paid': [{ id: 'po_1' }, ''],
  }
  for (const [type, [object, expected]] of [
    ...Object.entries(TYPES),
    ['constructor', [{ id: 'x' }, '']] as const,
  ]) {
    const delivery = outbox.sign(bytesOf({ ...EVENT, type, data: { object } }), NOW)
    const { refs } = await stripe.receive({ ...delivery, now: NOW })
    t.equal(refs.map(({ kind, id }) => `${kind} ${id}`).join(), expected, type)
  }
})

await t.test('a signed event of another form is sent again later', async (t) => {
  for (const odd of [
    {},
    [],
    null,
    5,
    { ...EVENT, id: 7 },
    { ...EVENT, data: {} },
    { ...EVENT, created: 'now' },
  ]) {
    const delivery = outbox.sign(bytesOf(odd), NOW)
    const failed = stripe.receive({ ...delivery, now: NOW })
    await t.rejects(failed, { code: 'unavailable' }, JSON.stringify(odd))
  }
})

await t.test('settings are refused by name, and never repeated', async (t) => {
  const live = 'sk_live_veryRealKey'
  const WRONG: Readonly<Record<string, readonly [string, string | undefined]>> = {
    'no key': ['KEYHOOK_STRIPE_API_KEY', undefined],
    'a publishable key': ['KEYHOOK_STRIPE_API_KEY', 'pk_test_publishable'],
    'a live key for the fake': ['KEYHOOK_STRIPE_API_KEY', live],
    'a restricted live key for the fake': ['KEYHOOK_STRIPE_API_KEY', 'rk_live_veryRealKey'],
    'no signing secret': ['KEYHOOK_STRIPE_WEBHOOK_SECRET', undefined],
    'a signing secret of another form': ['KEYHOOK_STRIPE_WEBHOOK_SECRET', 'secret-of-ours'],
    'an empty signing secret': ['KEYHOOK_STRIPE_WEBHOOK_SECRET', `${FAKE_SECRET},`],
    'no price': ['KEYHOOK_STRIPE_PRICE_PRO', ''],
    'a price with a space': ['KEYHOOK_STRIPE_PRICE_PRO', 'price 1'],
    'a base URL with a path': ['KEYHOOK_STRIPE_BASE_URL', 'http://127.0.0.1:1/v1'],
    'a base URL with a password': [
      'KEYHOOK_STRIPE_BASE_URL',
      'https://user:secret-of-ours@example.com',
    ],
    'plain http elsewhere': ['KEYHOOK_STRIPE_BASE_URL', 'http://stripe.example.com'],
    'no URL': ['KEYHOOK_STRIPE_BASE_URL', 'api.stripe.com'],
    'another scheme': ['KEYHOOK_STRIPE_BASE_URL', 'ftp://127.0.0.1'],
  }
  for (const [title, [name, value]] of Object.entries(WRONG)) {
    const opened = openStripe({ settings: settingsOf(BASE, { [name]: value }) })
    const failure = await failureOf(opened, 'misconfigured')
    t.match(failure.internal, /^KEYHOOK_STRIPE_\w+ must be /, title)
    const told = JSON.stringify([failure, failure.internal])
    for (const secret of [
      live,
      'veryRealKey',
      'pk_test',
      'secret-of-ours',
      FAKE_SECRET,
      FAKE_KEY,
    ]) {
      t.notOk(told.includes(secret), title)
    }
  }
  const real = settingsOf('https://api.stripe.com', { KEYHOOK_STRIPE_API_KEY: live })
  await t.resolves(openStripe({ settings: real }), 'a live key for the real service')
  const { KEYHOOK_STRIPE_BASE_URL: _, ...rest } = real
  await t.resolves(openStripe({ settings: rest }), 'which is the default')
  await failureOf(openStripe({ currency: 'UGX' }), 'misconfigured')
  await failureOf(openStripe({ currency: 'usd' }), 'misconfigured')
})

await t.test('amounts are written in minor units, or not at all', (t) => {
  const UNITS: Readonly<Record<string, readonly [micros: number, minor: number, least: number]>> = {
    USD: [12_340_000, 1234, 10_000],
    EUR: [10_000, 1, 10_000],
    JPY: [500_000_000, 500, 1_000_000],
    VND: [1_000_000, 1, 1_000_000],
    KWD: [5_120_000, 5120, 10_000],
    TND: [10_000, 10, 10_000],
    ISK: [5_000_000, 500, 1_000_000],
  }
  for (const [currency, [micros, minor, least]] of Object.entries(UNITS)) {
    t.equal(minorOf(micros, currency), minor, currency)
    t.equal(microsOf(minor, currency.toLowerCase()), micros, currency)
    t.equal(microsOf(minorOf(least, currency), currency.toLowerCase()), least)
    for (const wrong of [least / 2, least + least / 10, 0, -least, NaN, Infinity, 2 ** 53, null]) {
      t.throws(() => minorOf(wrong, currency), { code: 'rejected' }, `${currency} ${wrong}`)
    }
  }
  t.throws(() => microsOf(2 ** 52, 'usd'), { code: 'unavailable' }, 'beyond 2^53')
  t.end()
})
