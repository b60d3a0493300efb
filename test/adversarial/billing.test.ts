import t from 'tap'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { billingFamily } from '../../daemon/families/billing/family.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import { createMemoryEditor } from '../../plugins/edits/memory.ts'
import { pricesOf, walletOf } from '../support/billing.ts'
import { createApp, operationsOf } from '../support/edits.ts'
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
})
