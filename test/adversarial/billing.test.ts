import t from 'tap'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { billingFamily } from '../../daemon/families/billing/family.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import type { Delivery } from '../../plugins/billing/conformance.ts'
import { createMemoryEditor } from '../../plugins/edits/memory.ts'
import { pricesOf, walletOf } from '../support/billing.ts'
import { createApp, operationsOf } from '../support/edits.ts'
import { openShop } from '../support/payments.ts'
import type { AnyBody } from '../support/world.ts'
import { createWorld } from '../support/world.ts'
import { BILLING } from './rows/billing.ts'
import { runSection } from './run.ts'

const PRICES = { 'apps.create': 500, 'edits.create': 100, 'files.upload': 2 }
const READS = ['wallet', 'ledger', 'usage', 'limits'].map((name) => `/v1/billing/${name}`)

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
})

async function post(baseUrl: string, { headers, body }: Delivery) {
  const answer = await fetch(`${baseUrl}/hooks/billing/memory`, {
    method: 'POST',
    headers: headers as Readonly<Record<string, string>>,
    body: Buffer.from(body),
  })
  return { status: answer.status, body: (await answer.json()) as AnyBody }
}
