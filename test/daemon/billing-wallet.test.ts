import t from 'tap'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { auditFamily } from '../../daemon/families/audit/family.ts'
import { billingFamily } from '../../daemon/families/billing/family.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import { sweep } from '../../daemon/billing/sweep-job.ts'
import { DAY, toIso } from '../../lib/time.ts'
import { createMemoryEditor } from '../../plugins/edits/memory.ts'
import { pricesOf, walletOf } from '../support/billing.ts'
import { createClock } from '../support/clock.ts'
import type { Edit } from '../support/edits.ts'
import {
  ask,
  at,
  createApp,
  eventsOf,
  operationsOf,
  startWorker,
  untilEnded,
} from '../support/edits.ts'
import { until } from '../support/processing.ts'
import type { AnyBody, World, WorldOptions } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

type Scope = Parameters<typeof createWorld>[0]

const PRICES = { 'apps.create': 500, 'edits.create': 100, 'files.upload': 0 }
const START = Date.UTC(2026, 10, 24, 10)

async function openWorld(t: Scope, options: WorldOptions = {}) {
  const families = [appsFamily, editsFamily, billingFamily, auditFamily]
  const editor = createMemoryEditor({ script: operationsOf })
  const world = await createWorld(t, { prices: pricesOf(PRICES), editor, ...options, families })
  const { id: app } = await createApp(world)
  return { ...world, ...walletOf(world), app }
}

/** An edit that is charged for. */
async function edit(t: Scope, world: World, app: string): Promise<Edit> {
  startWorker(t, world)
  const { status, body } = await ask(world, app, 'hello')
  if (status !== 202) throw new Error(`no edit: ${status}`)
  return untilEnded(world, body)
}

interface Page {
  readonly data: readonly AnyBody[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

await t.test('an operator grants credit, which the wallet and the ledger show', async (t) => {
  const clock = createClock(START)
  const world = await openWorld(t, { clock })
  const { request, operator, account } = world
  const empty = await request('GET', '/v1/billing/wallet')
  t.match(empty, { status: 200, body: { balance: '0.00', available_micros: 0, updated_at: null } })
  const expires_at = toIso(START + DAY)
  const granted = await request('POST', '/v1/billing/credits', {
    as: operator,
    body: { amount: '25.00', expires_at, note: 'trial' },
  })
  t.match(granted, {
    status: 201,
    body: { amount_micros: 25_000_000, remaining_micros: 25_000_000, note: 'trial', expires_at },
  })
  const id = String(granted.body['id'])
  t.match((await request('GET', '/v1/billing/wallet')).body, {
    account_id: account.id,
    mode: 'internal',
    currency: 'USD',
    plan: 'pro',
    balance_micros: 25_000_000,
    balance: '25.00',
    held_micros: 0,
    available: '25.00',
    paid_micros: 0,
    granted_micros: 25_000_000,
    debt_micros: 0,
    low_balance_micros: null,
    is_low: false,
    expiring: [{ amount_micros: 25_000_000, expires_at }],
    updated_at: toIso(START),
  })
  const { body } = await request<Page>('GET', '/v1/billing/ledger')
  t.match(body.data, [
    {
      id,
      kind: 'grant',
      description: 'Credit granted: trial',
      amount: '25.00',
      balance_after_micros: 25_000_000,
      entries: { length: 2 },
    },
  ])
  const told = await eventsOf(world)
  t.match(
    told.filter(({ type }) => type === 'billing.credited'),
    [{ data: { transaction_id: id, kind: 'grant', amount_micros: 25_000_000, expires_at } }],
  )
  const audited = await request<Page>('GET', '/v1/audit-log?action=credit.granted')
  t.match(audited.body.data, [{ actor: { type: 'operator' }, target: { type: 'credit', id } }])
})

await t.test('credit is revoked once, as far as it is left', async (t) => {
  const world = await openWorld(t)
  const { request, operator, operatorFor, addAccount, app, wallet, verified } = world
  const grant = await request('POST', '/v1/billing/credits', {
    as: operator,
    body: { amount_micros: 250 },
  })
  await edit(t, world, app)
  const path = `/v1/billing/credits/${String(grant.body['id'])}/revoke`
  const stranger = operatorFor(await addAccount())
  t.match(await request('POST', path, { as: stranger }), {
    status: 404,
    body: { error: { code: 'credit_not_found' } },
  })
  const revoked = await request('POST', path, { as: operator })
  t.match(revoked, {
    status: 200,
    body: { spent_micros: 100, revoked_micros: 150, remaining_micros: 0, revoked_at: /Z$/ },
  })
  t.same(await wallet(), { balance: 0, held: 0 })
  t.match(await request('POST', path, { as: operator }), {
    status: 409,
    body: { error: { code: 'credit_revoked' } },
  })
  t.same(await verified(), [])
})

const AMOUNTS: readonly (readonly [AnyBody, status: number, code: string | undefined])[] = [
  [{ amount: '0' }, 400, 'amount_out_of_range'],
  [{ amount: '9007199254.740992' }, 400, 'amount_out_of_range'],
  [{ amount_micros: 0 }, 400, 'invalid_request'],
  [{ amount_micros: -1 }, 400, 'invalid_request'],
  [{ amount_micros: 0.5 }, 400, 'invalid_request'],
  [{ amount_micros: 2 ** 53 }, 400, 'invalid_request'],
  [{ amount: '1', amount_micros: 1 }, 400, 'invalid_request'],
  [{}, 400, 'invalid_request'],
  [{ amount: '1', expires_at: '2020-01-01T00:00:00Z' }, 400, 'invalid_request'],
  [{ amount_micros: Number.MAX_SAFE_INTEGER }, 201, undefined],
  [{ amount_micros: 1 }, 400, 'amount_out_of_range'],
]

await t.test('an amount that the wallet cannot hold changes nothing', async (t) => {
  const { request, operator, wallet } = await openWorld(t)
  for (const [body, status, code] of AMOUNTS) {
    const answer = await request('POST', '/v1/billing/credits', { as: operator, body })
    const shown = JSON.stringify(body)
    t.equal(answer.status, status, shown)
    if (code !== undefined) t.match(answer.body, { error: { code } }, shown)
  }
  t.same(await wallet(), { balance: Number.MAX_SAFE_INTEGER, held: 0 })
})

await t.test('the ledger is a list with filters, and CSV', async (t) => {
  const world = await openWorld(t)
  const { request, grant, app, user, baseUrl, mintKey } = world
  await grant(1000)
  const { id } = await edit(t, world, app)
  const kinds = async (query: string): Promise<readonly unknown[]> => {
    const { body } = await request<Page>('GET', `/v1/billing/ledger?${query}`)
    return body.data.map(({ kind }) => kind)
  }
  t.same(await kinds(''), ['capture', 'hold', 'grant'])
  t.same(await kinds('kind=capture'), ['capture'])
  t.same(await kinds(`app_id=${app}`), ['capture', 'hold'])
  t.same(await kinds('key_id=none'), [])
  t.same(await kinds('from=2100-01-01T00:00:00Z'), [])
  const first = (await request<Page>('GET', '/v1/billing/ledger?limit=2')).body
  t.equal(first.has_more, true)
  t.same(await kinds(`limit=2&cursor=${first.next_cursor}`), ['grant'])
  t.match(await request('GET', `/v1/billing/ledger?kind=hold&cursor=${first.next_cursor}`), {
    status: 400,
    body: { error: { code: 'invalid_cursor' } },
  })
  const [line] = first.data
  t.match(line, {
    kind: 'capture',
    description: 'Charged: prompt edit',
    amount_micros: -100,
    amount: '-0.0001',
    held_micros: -100,
    balance_after_micros: 900,
    available_after_micros: 900,
    operation: 'edits.create',
    meter: 'edits',
    quantity: 1,
    app_id: app,
    price_version: 'v1',
    ref: { type: 'hold' },
  })
  const entries = line?.['entries'] as readonly { readonly amount_micros: number }[]
  t.equal(
    entries.reduce((sum, { amount_micros }) => sum + amount_micros, 0),
    0,
  )
  t.ok(id)
  const { key } = await mintKey({ scopes: ['billing:read'] }, user)
  const response = await fetch(`${baseUrl}/v1/billing/ledger?format=csv&kind=capture`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const [head, row, rest] = (await response.text()).split('\r\n')
  t.match(head, /^id,created_at,kind,description,amount,/)
  t.match(row, /,capture,Charged: prompt edit,-0\.0001,-100,0,900,900,edits\.create,edits,1,/)
  t.equal(rest, '')
})

await t.test('verify finds nothing, of one account and of all', async (t) => {
  const world = await openWorld(t)
  const { request, grant, operator, operatorFor, user, app } = world
  await grant(1000)
  await edit(t, world, app)
  for (const as of [operator, operatorFor(null)]) {
    t.match(await request('GET', '/v1/billing/ledger/verify', { as }), {
      status: 200,
      body: { accounts: 1, transactions: 3, lots: 1, holds: 1, differences_total: 0 },
    })
  }
  t.match(await request('GET', '/v1/billing/ledger/verify', { as: user }), { status: 403 })
})

await t.test('the balance falls below its threshold once', async (t) => {
  const world = await openWorld(t)
  const { request, grant, app, platform } = world
  await grant(1000)
  const body = { low_balance_micros: 950 }
  t.match(await request('PATCH', '/v1/billing/wallet', { body }), {
    status: 200,
    body: { ...body, is_low: false },
  })
  const low = async (): Promise<readonly unknown[]> =>
    (await eventsOf(world)).filter(({ type }) => type === 'billing.balance_low')
  t.same(await low(), [])
  await edit(t, world, app)
  t.match(await low(), [
    { data: { available_micros: 900, low_balance_micros: 950, currency: 'USD' } },
  ])
  await untilEnded(world, (await ask(world, app, 'more')).body)
  t.equal((await low()).length, 1, 'it is low already')
  await grant(1000)
  await request('PATCH', '/v1/billing/wallet', { body: { low_balance_micros: 1800 } })
  await sweep(platform)
  await untilEnded(world, (await ask(world, app, 'again')).body)
  t.equal((await low()).length, 2, 'below it anew')
  t.match(await request('GET', '/v1/billing/wallet'), { body: { is_low: true } })
  t.match(await request('PATCH', '/v1/billing/wallet', { body: { low_balance_micros: null } }), {
    body: { low_balance_micros: null, is_low: false },
  })
  for (const low_balance_micros of [-1, 0.5, 2 ** 53, '1']) {
    const refused = await request('PATCH', '/v1/billing/wallet', { body: { low_balance_micros } })
    t.equal(refused.status, 400, String(low_balance_micros))
  }
})

for (const end of ['capture', 'release'] as const) {
  await t.test(`a second ${end} tells of the low balance that it finds`, async (t) => {
    const clock = createClock(START)
    const world = await openWorld(t, { clock })
    const { request, grant, app, platform, account } = world
    await grant(1000, START + DAY)
    await request('PATCH', '/v1/billing/wallet', { body: { low_balance_micros: 500 } })
    startWorker(t, world)
    const { body } = await ask(world, app, 'hello')
    await until(async () => (await request('GET', at(body))).body['status'] === 'completed')
    clock.set(DAY)
    const low = async (): Promise<readonly unknown[]> =>
      (await eventsOf(world)).filter(({ type }) => type === 'billing.balance_low')
    t.same(await low(), [])
    const work = { account_id: account.id, operation_id: body.id }
    await platform.store.write(async (tx) => {
      await platform.billing[end](tx, work)
    })
    t.match(await low(), [{ data: { available_micros: 0, low_balance_micros: 500 } }])
  })
}

await t.test(
  'a balance that falls below its threshold is told of though credit arrives',
  async (t) => {
    const clock = createClock(START)
    const world = await openWorld(t, { clock })
    await world.grant(1000, START + DAY)
    const body = { low_balance_micros: 950 }
    await world.request('PATCH', '/v1/billing/wallet', { body })
    clock.set(DAY)
    await world.grant(10)
    const types = (await eventsOf(world)).map(({ type }) => type)
    t.same(
      types.filter((type) => String(type).startsWith('billing.')),
      ['billing.credited', 'billing.credited', 'billing.balance_low'],
    )
  },
)

await t.test('prices are public, and the ones that are charged', async (t) => {
  const { request, baseUrl } = await openWorld(t)
  const { status, body, headers } = await request('GET', '/v1/billing/pricing', { as: null })
  t.equal(status, 200)
  t.match(body, {
    mode: 'internal',
    currency: 'USD',
    version: 'v1',
    plans: [
      { id: 'free', price_micros: 0 },
      { id: 'pro', price_micros: 25_000_000, interval: 'month' },
    ],
    operations: [
      { operation: 'apps.create', meter: 'apps', price_micros: 500, per: 1, billable: true },
      { operation: 'edits.create', price_micros: 100, billable: true },
      { operation: 'files.upload', price_micros: 0, billable: false },
    ],
    versions: [{ version: 'v1', effective_at: '1970-01-01T00:00:00.000Z' }],
  })
  t.equal(headers.get('cache-control'), 'public, max-age=300')
  const again = await fetch(`${baseUrl}/v1/billing/pricing`, {
    headers: { 'if-none-match': headers.get('etag') ?? '' },
  })
  t.equal(again.status, 304)
})

await t.test('usage is summed up by day, app, key, meter and operation', async (t) => {
  const clock = createClock(START)
  const world = await openWorld(t, { clock })
  const { request, grant, app, platform, account, user, mintKey } = world
  await grant(10_000)
  const { id: key_id } = await mintKey({ scopes: ['edits:*'] })
  const charge = async (n: string, by: object, app_id: string | null, operation: string) => {
    const now = clock.now()
    const works = [{ operation_id: n, quantity: 1 }]
    const asked = { account_id: account.id, operation, app_id, by: by as never, works, now }
    await platform.store.write(async (tx) => {
      await platform.billing.hold(tx, asked)
      await platform.billing.capture(tx, { account_id: account.id, operation_id: n })
    })
  }
  await charge('a', { type: 'user', id: user.user_id }, app, 'edits.create')
  await charge('b', { type: 'key', id: key_id }, app, 'edits.create')
  clock.set(DAY)
  await charge('c', { type: 'key', id: key_id }, null, 'apps.create')
  const usage = async (query: string) =>
    (await request<Page>('GET', `/v1/billing/usage?${query}`)).body
  t.match(await usage(''), {
    as_of: toIso(START + DAY),
    currency: 'USD',
    totals: { count: 3, charged_micros: 700, charged: '0.0007' },
    data: [
      { group: { day: '2026-11-24' }, count: 2, quantity: null, charged_micros: 200 },
      { group: { day: '2026-11-25' }, count: 1, charged_micros: 500 },
    ],
    has_more: false,
  })
  t.match((await usage('group_by=app')).data, [
    { group: { app_id: null }, charged_micros: 500 },
    { group: { app_id: app }, charged_micros: 200 },
  ])
  t.match((await usage('group_by=key')).data, [
    { group: { key_id: null }, charged_micros: 100 },
    { group: { key_id }, charged_micros: 600 },
  ])
  t.match((await usage('group_by=meter')).data, [
    { group: { meter: 'apps' }, quantity: 1 },
    { group: { meter: 'edits' }, quantity: 2 },
  ])
  t.match((await usage('group_by=operation')).data, [
    { group: { operation: 'apps.create' } },
    { group: { operation: 'edits.create' } },
  ])
  t.match(await usage('from=2026-11-24&to=2026-11-24'), { totals: { count: 2 } })
  const first = await usage('group_by=key&limit=1')
  t.match(first, { has_more: true, data: [{ group: { key_id: null } }] })
  t.match((await usage(`group_by=key&limit=1&cursor=${first.next_cursor}`)).data, [
    { group: { key_id } },
  ])
  for (const span of ['from=2026-11-25&to=2026-11-24', 'from=2024-01-01', 'from=2026-02-30']) {
    t.equal((await request('GET', `/v1/billing/usage?${span}`)).status, 400, span)
  }
})

await t.test('limits say what sets them, and when they begin again', async (t) => {
  const clock = createClock(START)
  const { request, grant, mintKey, platform, account } = await openWorld(t, { clock })
  await grant(1000)
  const limits = async (as?: string) => {
    const { body } = await request<Page>(
      'GET',
      '/v1/billing/limits',
      as === undefined ? {} : { as },
    )
    return Object.fromEntries(body.data.map(({ name, ...one }) => [String(name), one]))
  }
  t.match(await limits(), {
    'keys.create': { limit: null, source: 'plan' },
    'keys.live': { limit: 100, used: 0, remaining: 100, source: 'config' },
    'requests.reads': { limit: 600, window: 'minute', source: 'config' },
    'requests.writes': { limit: 120, window: 'minute', source: 'config' },
    balance: { limit: 1000, source: 'account' },
    'topup.minimum': { limit: 5_000_000, source: 'prices' },
    'topup.maximum': { limit: 1_000_000_000, source: 'prices' },
  })
  await platform.store.write((tx) => tx.accounts.setKeyLimit(account.id, 7, START))
  const body = { name: 'a key', scopes: ['billing:read'], monthly_budget_micros: 300 }
  const { id, key } = (await request('POST', '/v1/keys', { body })).body as AnyBody & {
    readonly id: string
    readonly key: string
  }
  t.match(await limits(key), {
    'keys.live': { limit: 7, used: 1, remaining: 6, source: 'account' },
    'budget.monthly': {
      limit: 300,
      used: 0,
      remaining: 300,
      window: 'month',
      resets_at: '2026-12-01T00:00:00.000Z',
      source: 'key',
      source_id: id,
    },
  })
  const pinned = await mintKey({ scopes: ['billing:read'], apps: ['a1'] })
  t.match(await request('GET', '/v1/billing/limits', { as: pinned.key }), {
    status: 403,
    body: { error: { code: 'key_pinned' } },
  })
})

await t.test('without billing everything is free, and reads answer all the same', async (t) => {
  const world = await createWorld(t, { families: [billingFamily] })
  const { request, operator } = world
  t.match(await request('GET', '/v1/billing/wallet'), {
    status: 200,
    body: {
      mode: 'none',
      currency: null,
      plan: 'pro',
      balance: '0.00',
      available: null,
      available_micros: null,
    },
  })
  t.match(await request('GET', '/v1/billing/ledger'), { status: 200, body: { data: [] } })
  t.match(await request('GET', '/v1/billing/usage'), { status: 200, body: { currency: null } })
  const { body } = await request<Page>('GET', '/v1/billing/limits')
  t.notOk(body.data.some(({ name }) => name === 'balance'))
  const pricing = (await request('GET', '/v1/billing/pricing', { as: null })).body
  t.match(pricing, { mode: 'none', currency: null, operations: { length: 3 } })
  for (const one of pricing['operations'] as readonly AnyBody[]) {
    t.match(one, { price_micros: 0, minimum_micros: 0, billable: false })
  }
  const refused = { status: 501, body: { error: { code: 'billing_not_configured' } } }
  const granting = { as: operator, body: { amount: '1' } }
  t.match(await request('POST', '/v1/billing/credits', granting), refused)
  t.match(await request('POST', '/v1/billing/credits/x/revoke', { as: operator }), refused)
  const low_balance_micros = 1
  t.match(await request('PATCH', '/v1/billing/wallet', { body: { low_balance_micros } }), refused)
})
