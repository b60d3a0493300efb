import t from 'tap'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { billingFamily } from '../../daemon/families/billing/family.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import type { Delivery } from '../../plugins/billing/conformance.ts'
import { createMemoryEditor } from '../../plugins/edits/memory.ts'
import { pricesOf, walletOf } from '../support/billing.ts'
import { createApp, operationsOf } from '../support/edits.ts'
import { openShop } from '../support/payments.ts'
import { openRaw } from '../support/raw-http.ts'
import type { AnyBody } from '../support/world.ts'
import { createWorld } from '../support/world.ts'
import { BILLING } from './rows/billing.ts'
import { runSection } from './run.ts'

const PRICES = { 'apps.create': 500, 'edits.create': 100, 'files.upload': 2 }
const READS = ['wallet', 'ledger', 'usage', 'limits', 'invoices'].map(
  (name) => `/v1/billing/${name}`,
)

async function openWorld(t: Parameters<typeof createWorld>[0]) {
  const world = await createWorld(t, {
    families: [appsFamily, editsFamily, billingFamily],
    editor: createMemoryEditor({ script: operationsOf }),
    prices: pricesOf(PRICES),
  })
  return { ...world, ...walletOf(world) }
}

function outcomeOf({ status, body }: { readonly status: number; readonly body: AnyBody }): string {
  const { code } = (body['error'] ?? {}) as { readonly code?: string }
  return code === undefined ? String(status) : `${status} ${code}`
}

const PURCHASES = [
  ['POST', 'topup', { amount: '10.00' }],
  ['POST', 'subscribe', { plan: 'pro' }],
  ['POST', 'payment-method', {}],
  ['POST', 'portal', {}],
  ['DELETE', 'subscription', undefined],
] as const

/** Of a top-up, and of a grant. */
const AMOUNTS: readonly AnyBody[] = [
  ...[0, -1, 0.5, 1e-7, 2 ** 53, -(2 ** 53), Infinity, '1', '1e3', null, true, [1], {}].map(
    (amount_micros) => ({ amount_micros }),
  ),
  ...[
    '0',
    '0.00',
    '-1',
    '+1',
    '-0',
    '1e3',
    '0x10',
    ' 1',
    '1 ',
    '1,00',
    '1.',
    '.5',
    '01',
    '',
    '1.0000001',
  ].map((amount) => ({ amount })),
  ...['9007199254.740992', '99999999999', '١', 1, 1000, null, ['1.00']].map((amount) => ({
    amount,
  })),
  {},
  { amount: '10.00', amount_micros: 10_000_000 },
  { amount: '10.00', currency: 'EUR' },
]

const OUTSIDE: readonly AnyBody[] = [
  { amount_micros: 1 },
  { amount_micros: 4_999_999 },
  { amount_micros: 1_000_000_001 },
  { amount_micros: 2 ** 53 - 1 },
  { amount: '4.999999' },
  { amount: '1000.000001' },
]

await runSection(t, BILLING, {
  M01: async (t, saw) => {
    const { request, mintKey, grant } = await openWorld(t)
    await grant(1000)
    for (const scope of ['billing:read', 'billing:*', '*:read', '*:*']) {
      const { key } = await mintKey({ scopes: [scope] })
      for (const path of READS) saw(outcomeOf(await request('GET', path, { as: key })))
    }
  },
  M02: async (t, saw) => {
    const { request, mintKey } = await openWorld(t)
    const { key } = await mintKey({ scopes: ['apps:*', 'keys:*', 'edits:*'] })
    const pinned = await mintKey({ scopes: ['*:*'], apps: ['a1'] })
    for (const path of READS) {
      saw(outcomeOf(await request('GET', path, { as: key })))
      saw(outcomeOf(await request('GET', path, { as: pinned.key })))
    }
  },
  M03: async (t, saw) => {
    const { request, mintKey, grant, wallet } = await openWorld(t)
    const credit = await grant(1000)
    const { key } = await mintKey({ scopes: ['*:*'] })
    const change = async (method: string, path: string, body?: AnyBody): Promise<void> =>
      saw(outcomeOf(await request(method, path, { as: key, ...(body && { body }) })))
    await change('PATCH', '/v1/billing/wallet', { low_balance_micros: 1 })
    await change('POST', '/v1/billing/credits', { amount: '1.00' })
    await change('POST', `/v1/billing/credits/${credit}/revoke`)
    t.same(await wallet(), { balance: 1000, held: 0 })
  },
  M04: async (t, saw) => {
    const { request, wallet } = await openWorld(t)
    saw(outcomeOf(await request('POST', '/v1/billing/credits', { body: { amount: '1.00' } })))
    saw(outcomeOf(await request('GET', '/v1/billing/ledger/verify')))
    t.same(await wallet(), { balance: 0, held: 0 })
  },
  M05: async (t, saw) => {
    const { request, operatorFor, addAccount, grant, wallet } = await openWorld(t)
    const credit = await grant(1000)
    const other = operatorFor(await addAccount())
    saw(outcomeOf(await request('POST', `/v1/billing/credits/${credit}/revoke`, { as: other })))
    const { body } = await request<{ data: [] }>('GET', '/v1/billing/ledger', { as: other })
    if (body.data.length === 0) saw('nothing of it')
    t.same(await wallet(), { balance: 1000, held: 0 })
  },
  M06: async (t, saw) => {
    const { request, operator, baseUrl, mintKey } = await openWorld(t)
    const { key } = await mintKey({ scopes: ['billing:read'] })
    for (const note of ['=HYPERLINK("http://evil")', '+1', '-1+1', '@SUM(A1)', '\t=1']) {
      const body = { amount: '1.00', note }
      t.equal((await request('POST', '/v1/billing/credits', { as: operator, body })).status, 201)
    }
    const response = await fetch(`${baseUrl}/v1/billing/ledger?format=csv`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const text = await response.text()
    // Descriptions begin with a word of ours, so that no note begins a cell.
    const isText = !/(^|,)"?[=+@\t]/m.test(text) && !/(^|,)"?-\D/m.test(text)
    if (isText) saw('text')
  },
  M07: async (t, saw) => {
    const world = await openWorld(t)
    const { request, grant, wallet } = world
    const { id } = await createApp(world)
    await grant(100)
    const asking = { body: { prompt: 'hello' }, headers: { 'idempotency-key': 'one' } }
    const path = `/v1/apps/${id}/edits`
    saw(outcomeOf(await request('POST', path, asking)))
    t.equal((await request('POST', path, { body: { prompt: 'another' } })).status, 402)
    const replayed = await request('POST', path, asking)
    t.equal(replayed.headers.get('idempotency-replayed'), 'true')
    saw(outcomeOf(replayed))
    t.same(await wallet(), { balance: 100, held: 100 })
  },
  M08: async (t, saw) => {
    const world = await openWorld(t)
    const { request, grant } = world
    const { id } = await createApp(world)
    await grant(1000)
    const asking = { body: { prompt: 'hello' }, headers: { 'idempotency-key': 'one' } }
    for (const query of ['?dry_run=true', '', '?dry_run=true']) {
      const { status, body } = await request('POST', `/v1/apps/${id}/edits${query}`, asking)
      saw(`${status} ${body['dry_run'] === true ? 'quote' : String(body['status'])}`)
    }
  },
  M09: async (t, saw) => {
    const shop = await openShop(t)
    await shop.payPro()
    await shop.deliver()
    const { key } = await shop.mintKey({ scopes: ['*:*'] })
    for (const [method, path, body] of PURCHASES) {
      const headers = { 'idempotency-key': 'key-1' }
      const asking = { as: key, headers, ...(body && { body }) }
      saw(outcomeOf(await shop.request(method, `/v1/billing/${path}`, asking)))
    }
  },
  M10: async (t, saw) => {
    const shop = await openShop(t)
    await shop.payTopup(10_000_000, 'order-1')
    const { till, clock } = shop
    for (const { headers, body } of await till.take()) {
      const old = till.sign(body, clock.now() - 301_000)
      for (const sent of [till.forge(body, clock.now()), old, { headers, body: body.slice(1) }]) {
        saw(outcomeOf(await post(shop.baseUrl, sent)))
      }
    }
    await shop.work()
    t.same(await shop.wallet(), { balance: 0, held: 0 })
  },
  M11: async (t, saw) => {
    const shop = await openShop(t)
    await shop.payPro()
    await shop.deliver()
    const { body } = await shop.request('GET', '/v1/billing/invoices')
    const [invoice] = body['data'] as readonly AnyBody[]
    const as = shop.userOf(await shop.addAccount())
    const path = `/v1/billing/invoices/${String(invoice?.['id'])}`
    saw(outcomeOf(await shop.request('GET', path, { as })))
    for (const return_url of ['https://elsewhere.example/', 'javascript:alert(1)', '//x.example']) {
      saw(outcomeOf(await shop.post('payment-method', { return_url })))
    }
  },
  M12: async (t, saw) => {
    const { request, mintKey, grant } = await openWorld(t)
    await grant(1000)
    const { key } = await mintKey({ scopes: ['*:*'] })
    const pinned = await mintKey({ scopes: ['*:*'], apps: ['a1'] })
    for (const as of [key, pinned.key, undefined]) {
      const asking = as === undefined ? {} : { as }
      saw(outcomeOf(await request('GET', '/v1/billing/ledger/verify', asking)))
    }
  },
  M13: async (t, saw) => {
    const shop = await openShop(t)
    await shop.payTopup(10_000_000, 'order-1')
    const { till, clock, baseUrl } = shop
    const sent = await till.take()
    const large = new TextEncoder().encode(' '.repeat(512 * 1024 + 1))
    saw(outcomeOf(await post(baseUrl, till.sign(large, clock.now()))))
    for (const { headers, body } of sent) {
      await sendHalf(baseUrl, { headers, body })
      saw(outcomeOf(await post(baseUrl, { headers, body: body.slice(0, body.length >> 1) })))
      saw(outcomeOf(await post(baseUrl, { headers, body: new Uint8Array() })))
      saw(outcomeOf(await post(baseUrl, { headers: {}, body })))
    }
    const isWaiting = await shop.platform.store.jobs.isClaimable('billing_event', clock.now())
    await shop.work()
    const { balance } = await shop.wallet()
    if (!isWaiting && balance === 0) saw('nothing is kept')
  },
  M14: async (t, saw) => {
    const shop = await openShop(t)
    for (const [at, body] of [...AMOUNTS, ...OUTSIDE].entries()) {
      saw(outcomeOf(await shop.post('topup', body, `order-${at}`)))
    }
    t.same(await shop.till.count(), { customers: 0, checkouts: 0 })
  },
  M15: async (t, saw) => {
    const { request, operator, wallet } = await openWorld(t)
    const grant = (body: AnyBody) => request('POST', '/v1/billing/credits', { as: operator, body })
    for (const body of AMOUNTS) saw(outcomeOf(await grant(body)))
    t.same(await wallet(), { balance: 0, held: 0 })
    t.equal((await grant({ amount_micros: 2 ** 53 - 1 })).status, 201)
    saw(outcomeOf(await grant({ amount_micros: 1 })))
    t.same(await wallet(), { balance: 2 ** 53 - 1, held: 0 })
  },
  M16: async (t, saw) => {
    const { request } = await openWorld(t)
    const amounts = [-1, 0.5, 1e-7, 2 ** 53, '1', '1e3', true, [1]]
    for (const low_balance_micros of amounts) {
      const body = { low_balance_micros }
      saw(outcomeOf(await request('PATCH', '/v1/billing/wallet', { body })))
    }
    for (const monthly_budget_micros of [0, ...amounts]) {
      const body = { name: 'small', scopes: ['apps:*'], monthly_budget_micros }
      saw(outcomeOf(await request('POST', '/v1/keys', { body })))
    }
  },
  M17: async (t, saw) => {
    const shop = await openShop(t)
    const { till } = shop
    const asked = await shop.post('topup', { amount: '10.00' }, 'order-1')
    const session = await shop.sessionOf(asked)
    const later = await shop.sessionOf(await shop.post('topup', { amount: '10.00' }, 'order-2'))
    await till.decline(session)
    await till.payLater(later)
    const statuses = [...(await shop.deliver({ copies: 3, order: 'random' }))]
    await till.failLater(later)
    await till.expire(session)
    statuses.push(...(await shop.deliver({ copies: 3, order: 'reverse' })))
    for (const status of statuses) saw(String(status))
    const { balance } = await shop.wallet()
    saw(String(balance))
    t.same(await shop.verified(), [])
  },
})

/** Sends the head of an event and half of it, and breaks the connection off. */
async function sendHalf(baseUrl: string, { headers, body }: Delivery): Promise<void> {
  const connection = await openRaw(Number(new URL(baseUrl).port))
  const head = Object.entries({ ...headers, host: 'x', 'content-length': String(body.length) })
  connection.send(
    `POST /hooks/billing/memory HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  )
  connection.send(body.slice(0, body.length >> 1))
  await new Promise((resolve) => setTimeout(resolve, 50))
  connection.destroy()
}

async function post(baseUrl: string, { headers, body }: Delivery) {
  const answer = await fetch(`${baseUrl}/hooks/billing/memory`, {
    method: 'POST',
    headers: headers as Readonly<Record<string, string>>,
    body: Buffer.from(body),
  })
  return { status: answer.status, body: (await answer.json()) as AnyBody }
}
