import t from 'tap'
import { toIso } from '../../lib/time.ts'
import { idAt, sampleTold, sampleUsage, tell } from '../platform/observation-samples.ts'
import { NOW, openApp } from '../support/observed-app.ts'
import { MOST_LOOKED_AT } from '../../plugins/store/contract/page.ts'
import type { AnyBody, World } from '../support/world.ts'

void t.test('requests to an app are listed newest first, page by page', async (t) => {
  const { id, read, linesAt } = await openApp(t)
  await linesAt(3000, { path: '/old', status: 404 })
  await linesAt(2000, { path: '/shop', kind: 'preview', deployment_id: null, status: 503 })
  await linesAt(1000, { path: '/shop/new' })
  const all = await read('/logs')
  t.match(all, { status: 200, body: { has_more: false, next_cursor: null } })
  t.same(
    all.body.data.map(({ message, level }) => `${String(level)} ${String(message)}`),
    ['info GET /shop/new 200', 'error GET /shop 503', 'warn GET /old 404'],
  )
  t.same(all.body.data[0], {
    id: idAt(NOW - 1000),
    at: toIso(NOW - 1000),
    source: 'access',
    level: 'info',
    env: 'published',
    message: 'GET /shop/new 200',
    request_id: 'req_1',
    deployment_id: 'dep_1',
    request: { method: 'GET', path: '/shop/new', status: 200, bytes: 1234, took_ms: 3 },
  })
  const first = await read('/logs?limit=2')
  t.match(first.body, { has_more: true })
  const second = await read(`/logs?limit=2&cursor=${String(first.body.next_cursor)}`)
  t.same([...first.body.data, ...second.body.data], all.body.data)
  t.match(await read(`/logs?env=preview&cursor=${String(first.body.next_cursor)}`), {
    status: 400,
    body: { error: { code: 'invalid_cursor' } },
  })
  const found = async (query: string) =>
    (await read(`/logs?${query}`)).body.data.map(({ message }) => message)
  t.same(await found('env=preview'), ['GET /shop 503'])
  t.same(await found('status=4xx&source=access'), ['GET /old 404'])
  t.same(await found('q=/shop'), ['GET /shop/new 200', 'GET /shop 503'])
  t.same(await found('q=/Shop'), [])
  t.same(await found(`since=${toIso(NOW - 2000)}`), ['GET /shop/new 200', 'GET /shop 503'])
  t.same(await found(`until=${toIso(NOW - 2000)}`), ['GET /old 404'])
  t.same(await found('deployment_id=dep_1'), ['GET /shop/new 200', 'GET /old 404'])
  for (const query of ['status=200', 'source=build', 'env=both', 'since=yesterday', 'q=', 'x=1']) {
    t.match(await read(`/logs?${query}`), {
      status: 400,
      body: { error: { code: 'invalid_request' } },
    })
  }
  t.equal((await read(`/logs?q=${id}`)).status, 200)
})

void t.test('a page of a filtered list looks at so many requests, and leads on', async (t) => {
  const { read, linesAt } = await openApp(t)
  await linesAt(9000, { path: '/old', status: 404 })
  for (let ago = 8000; ago > 8000 - MOST_LOOKED_AT / 2000; ago -= 1) await linesAt(ago, {}, 2000)
  const first = await read('/logs?status=4xx')
  t.match(first.body, { data: [], has_more: true, next_cursor: String })
  const second = await read(`/logs?status=4xx&cursor=${String(first.body.next_cursor)}`)
  t.match(second.body, { data: [{ message: 'GET /old 404' }], has_more: false, next_cursor: null })
  t.match((await read('/logs?limit=1')).body, { data: [{}], has_more: true })
})

void t.test('errors are listed, read, resolved once, and come back', async (t) => {
  const { world, id, store, read } = await openApp(t)
  const told = (name: string, after: number, changes: object = {}) => ({
    ...sampleTold(name, 0, changes),
    id: idAt(NOW, after + 10),
    app_id: id,
    first_seen: NOW + after,
    last_seen: NOW + after,
  })
  const one = told('one', 0)
  await tell(store, one, told('two', 2, { kind: 'preview' }), told('three', 1))
  const titles = async (query = '') =>
    (await read(`/errors${query}`)).body.data.map(({ title }) => title)
  t.same(await titles(), ['two', 'three', 'one'])
  t.same(await titles('?env=preview'), ['two'])
  t.same(await titles('?q=thr'), ['three'])
  t.same(await titles(`?since=${toIso(NOW + 1)}`), ['two', 'three'])
  const first = await read('/errors?limit=2')
  const second = await read(`/errors?limit=2&cursor=${String(first.body.next_cursor)}`)
  t.same(
    [...first.body.data, ...second.body.data].map(({ title }) => title),
    ['two', 'three', 'one'],
  )
  const at = `/errors/${one.id}`
  const record = {
    id: one.id,
    error_id: one.id,
    app_id: id,
    fingerprint: one.fingerprint,
    type: 'error',
    title: 'one',
    culprit: 'load (/app.js)',
    status: 'open',
    env: 'published',
    count: 1,
    first_seen: toIso(NOW),
    last_seen: toIso(NOW),
    resolved_at: null,
    reopened_at: null,
    deployment_id: 'dep_1',
    edit_id: 'edit_1',
    sample: { message: 'one', stack: null, url: '/' },
  }
  t.same((await read(at)).body, record)
  const resolve = () => world.request('POST', `/v1/apps/${id}${at}/resolve`)
  const { id: error_id, app_id } = record
  const ends = { status: 'resolved', resolved_at: toIso(NOW) }
  const resolved = { id: error_id, error_id, app_id, ...ends }
  t.match(await resolve(), { status: 200, body: resolved })
  t.same((await read(at)).body, { ...record, ...ends })
  t.same((await resolve()).body, resolved, 'asked again it is resolved all the same')
  t.same(await titles('?status=open'), ['two', 'three'])
  t.same(await titles('?status=resolved'), ['one'])
  await tell(store, told('one', 5, { deployment_id: 'dep_2', edit_id: null }))
  t.match((await read(at)).body, {
    status: 'open',
    count: 2,
    reopened_at: toIso(NOW + 5),
    deployment_id: 'dep_2',
    edit_id: null,
  })
  const { rows } = await store.requests.audit({
    account_id: world.account.id,
    action: 'error.resolved',
    actor_id: null,
    target_id: one.id,
    limit: 9,
    after: null,
  })
  t.match(rows, [{ app_id: id, target_type: 'error' }])
  t.equal(rows.length, 1)
  t.match(await read('/errors/none'), { status: 404, body: { error: { code: 'error_not_found' } } })
})

void t.test('usage is told by month, meter and day, published and preview apart', async (t) => {
  const { id, store, read } = await openApp(t)
  const add = (asOf: number, day: string, amount: number, changes: object = {}) =>
    store.write((tx) =>
      tx.observations.addUsage([sampleUsage(amount, { app_id: id, day, ...changes })], asOf),
    )
  await add(NOW - 3, '2026-02-01', 5)
  await add(NOW - 2, '2026-02-03', 2, { meter: 'errors' })
  await add(NOW - 4, '2026-02-03', 700, { meter: 'egress_bytes', kind: 'preview' })
  await add(NOW - 9, '2026-01-31', 9)
  const { status, body } = await read<AnyBody>('/hosting-usage')
  t.equal(status, 200)
  const none = { requests: 0, errors: 0, not_found: 0, egress_bytes: 0 }
  t.same(body, {
    app_id: id,
    period: { start: '2026-02-01T00:00:00.000Z', end: '2026-03-01T00:00:00.000Z' },
    as_of: toIso(NOW - 2),
    meters: [
      { meter: 'requests', unit: 'requests', published: { total: 5 }, preview: { total: 0 } },
      { meter: 'errors', unit: 'requests', published: { total: 2 }, preview: { total: 0 } },
      { meter: 'not_found', unit: 'requests', published: { total: 0 }, preview: { total: 0 } },
      { meter: 'egress_bytes', unit: 'bytes', published: { total: 0 }, preview: { total: 700 } },
    ],
    daily: [
      { date: '2026-02-01', published: { ...none, requests: 5 }, preview: none },
      { date: '2026-02-02', published: none, preview: none },
      {
        date: '2026-02-03',
        published: { ...none, errors: 2 },
        preview: { ...none, egress_bytes: 700 },
      },
    ],
  })
  const january = await read<AnyBody>('/hosting-usage?month=2026-01')
  t.match(january.body, {
    as_of: toIso(NOW - 9),
    meters: [{ published: { total: 9 } }, {}, {}, {}],
  })
  t.equal((january.body['daily'] as []).length, 31)
  t.match((await read<AnyBody>('/hosting-usage?month=2026-03')).body, { as_of: null, daily: [] })
  for (const month of ['2026-13', '2026-1', '1999-01', 'now']) {
    t.match(await read(`/hosting-usage?month=${month}`), { status: 400 }, month)
  }
})

const READS = ['/logs', '/logs/follow', '/errors', '/errors/none', '/health'] as const

async function refusalOf(world: World, path: string, as: string, method = 'GET') {
  const { status, body } = await world.request<{ error: { code: string } }>(method, path, { as })
  return [status, body.error.code]
}

void t.test('who may not see an app observes nothing of it', async (t) => {
  const { world, id } = await openApp(t)
  const stranger = world.userOf(await world.addAccount({ id: 'acc_other' }))
  const pinned = await world.mintKey({ scopes: ['*:read', 'apps:write'], apps: ['other'] })
  const blind = await world.mintKey({ scopes: ['edits:*'] })
  const paths = [...READS, '/hosting-usage'].map((path) => `/v1/apps/${id}${path}`)
  for (const path of paths) {
    t.match(await world.request('GET', path, { as: stranger }), {
      status: 404,
      body: { error: { code: 'app_not_found' } },
    })
    t.same(await refusalOf(world, path, pinned.key), [404, 'app_not_found'], path)
    t.same(await refusalOf(world, path, blind.key), [403, 'insufficient_scope'], path)
  }
  const resolve = `/v1/apps/${id}/errors/none/resolve`
  t.same(await refusalOf(world, resolve, pinned.key, 'POST'), [404, 'app_not_found'])
  const reader = await world.mintKey({ scopes: ['observe:read'], apps: [id] })
  t.same(await refusalOf(world, resolve, reader.key, 'POST'), [403, 'insufficient_scope'])
  t.same(await refusalOf(world, `/v1/apps/${id}/hosting-usage`, reader.key), [
    403,
    'insufficient_scope',
  ])
  t.match(await world.request('GET', `/v1/apps/${id}/logs`, { as: reader.key }), { status: 200 })
  const owner = await world.mintKey({ scopes: ['apps:*'], apps: [id] })
  t.same(await refusalOf(world, resolve, owner.key, 'POST'), [404, 'error_not_found'])
  await world.request('DELETE', `/v1/apps/${id}`)
  t.same(await refusalOf(world, resolve, owner.key, 'POST'), [409, 'app_archived'])
  t.match(await world.request('GET', `/v1/apps/${id}/logs`), { status: 200 })
})
