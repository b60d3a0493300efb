import t from 'tap'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { mcp } from '../../daemon/mcp/endpoint.ts'
import { digestOf } from '../../daemon/mcp/read-on.ts'
import { createClock } from '../support/clock.ts'
import { until } from '../support/daemon.ts'
import { createApp, createHeldEditor, startWorker } from '../support/edits.ts'
import { change, deployWorld, publish, startDeployer } from '../support/deploys.ts'
import { MCP_CLIENTS, connectMcp } from '../support/mcp.ts'
import { startPostgres } from '../support/postgres.ts'
import type { World } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

type Teardown = Parameters<typeof createWorld>[0]

const WRITER = { scopes: ['apps:*', 'edits:*'] }
const LIMIT = 20

/** A world whose edits wait until they are let. */
async function heldWorld(t: Teardown, database?: string) {
  const held = createHeldEditor()
  const families = [appsFamily, editsFamily, webhooksFamily]
  const world = await createWorld(t, { families, protocols: [mcp], editor: held.editor, database })
  startWorker(t, world)
  const { id: app_id } = await createApp(world, { name: 'Shop' })
  const { key, id: keyId } = await world.mintKey(WRITER)
  return { ...held, world, app_id, key, keyId }
}

async function open(t: Teardown, world: World, key: string, connect = connectMcp, query = '') {
  const client = await connect(world, key, query)
  t.teardown(() => client.close())
  return client
}

const editsOf = async (world: World, app: string) =>
  (
    await world.request<{ data: readonly { id: string; status: string }[] }>(
      'GET',
      `/v1/apps/${app}/edits`,
    )
  ).body.data

/** What is open for callers who wait. */
const isIdle = ({ traffic }: World) => traffic.responses.used === 0 && traffic.bodies.used === 0

const postgres = await startPostgres()
t.teardown(() => postgres.stop())

const databases: Readonly<Record<string, () => Promise<string | undefined>>> = {
  SQLite: async () => undefined,
  PostgreSQL: () => postgres.createDatabase(),
}

for (const [database, openDatabase] of Object.entries(databases)) {
  for (const [name, connect] of Object.entries(MCP_CLIENTS)) {
    await t.test(`${name} sees the progress of work, and its record, on ${database}`, async (t) => {
      const { world, app_id, key, release } = await heldWorld(t, await openDatabase())
      const client = await open(t, world, key, connect)
      const seen: { progress: number; message?: string | undefined }[] = []
      let isSeen = (): void => undefined
      const first = new Promise<void>((resolve) => (isSeen = resolve))
      const called = client.callTool(
        'edits_create',
        { app_id, prompt: 'green' },
        {
          onprogress(progress) {
            seen.push(progress)
            isSeen()
          },
        },
      )
      await first
      await release('green')
      const { isError, structured, meta } = await called
      t.match({ isError, meta }, { isError: false, meta: { 'keyhook/status': 201 } })
      t.equal(meta['keyhook/watch'], undefined)
      t.match(structured, { status: 'completed', result_revision: 2 })
      const { body } = await world.request(
        'GET',
        `/v1/apps/${app_id}/edits/${String(structured?.['id'])}`,
        { as: key },
      )
      t.same(structured, body)
      t.same(
        seen.map(({ progress }) => progress),
        seen.map((_, at) => at + 1),
      )
      t.ok(seen.every(({ message }) => message !== undefined && message !== ''))
      await until('nothing is held', () => isIdle(world))
    })
  }
}

await t.test('an app made from a prompt shows the progress of its first edit', async (t) => {
  const { world, key, release } = await heldWorld(t)
  const client = await open(t, world, key)
  const seen: string[] = []
  const called = client.callTool(
    'apps_create',
    { prompt: 'bakery' },
    { onprogress: ({ message = '' }) => seen.push(message) },
  )
  await release('bakery')
  t.match((await called).structured, { status: 'ready' })
  t.ok(seen.length > 0)
})

await t.test('a publication shows its progress, also through api_write', async (t) => {
  const world = await deployWorld(t, { protocols: [mcp] })
  startDeployer(t, world)
  const { id: app_id } = await createApp(world, { name: 'Shop' })
  const { key } = await world.mintKey({ scopes: ['apps:*', 'deploy:*'] })
  const seen: string[] = []
  const options = { onprogress: ({ message = '' }) => seen.push(message) }
  const client = await open(t, world, key)
  const { structured, isError } = await client.callTool('deploy_publish', { app_id }, options)
  t.match(
    { structured, isError },
    { isError: false, structured: { status: 'live', dry_run: false } },
  )
  t.ok(seen.some((message) => message.includes('building') || message.includes('release')))

  const path = `/v1/apps/${app_id}`
  const revision = await change(world, app_id, 'Open every day')
  seen.length = 0
  const reach = await open(t, world, key, connectMcp, '?toolsets=api')
  const called = { name: 'deploy_publish', arguments: { app_id, revision } }
  t.match((await reach.callTool('api_write', called, options)).structured, {
    status: 'live',
    revision,
  })
  t.ok(seen.length > 0)
  t.match((await world.request('GET', `${path}/deployments`, { as: key })).body['data'], [
    { revision, status: 'live' },
    { status: 'superseded' },
  ])
})

await t.test('a client that leaves ends its wait, and not the work', async (t) => {
  for (const onprogress of [undefined, () => undefined]) {
    const { world, app_id, key, release, until: begun, aborted } = await heldWorld(t)
    const client = await open(t, world, key)
    const leaving = new AbortController()
    const called = client.callTool(
      'edits_create',
      { app_id, prompt: 'blue' },
      { signal: leaving.signal, ...(onprogress === undefined ? {} : { onprogress }) },
    )
    await begun('blue')
    leaving.abort()
    await t.rejects(called)
    await until('nothing is held', () => isIdle(world))
    t.same(aborted, [])
    await release('blue')
    await until('it is done', async () =>
      (await editsOf(world, app_id)).every(({ status }) => status === 'completed'),
    )
  }
})

await t.test('a call that is repeated with its key goes on waiting', async (t) => {
  const { world, app_id, key, release, until: begun } = await heldWorld(t)
  const client = await open(t, world, key)
  const args = { app_id, prompt: 'blue', idempotency_key: 'k1' }
  const first = await client.callTool('edits_create', { ...args, wait: 1 })
  t.match(first, { isError: false, meta: { 'keyhook/status': 202 } })
  await begun('blue')
  const seen: string[] = []
  const again = client.callTool('edits_create', args, {
    onprogress: ({ message = '' }) => seen.push(message),
  })
  await until('it reports', () => seen.length > 0)
  await release('blue')
  const { structured, meta } = await again
  t.match(structured, { id: first.structured?.['id'], status: 'completed' })
  t.match(meta, { 'keyhook/replayed': true, 'keyhook/status': 201 })
})

await t.test('a key that may not read the record waits as in REST', async (t) => {
  const { world, app_id, release } = await heldWorld(t)
  const { key } = await world.mintKey({ scopes: ['edits:write'] })
  const client = await open(t, world, key)
  const called = client.callTool(
    'edits_create',
    { app_id, prompt: 'blue' },
    { onprogress: () => t.fail('it may not be read') },
  )
  await release('blue')
  t.match((await called).structured, { status: 'completed' })
})

await t.test('a message is not kept while its work is waited for', async (t) => {
  const { world, app_id, key, release, until: begun } = await heldWorld(t)
  const client = await open(t, world, key, connectMcp, '?toolsets=edits')
  const called = client.callTool('edits_create', { app_id, prompt: 'red' })
  await begun('red')
  await until('its bytes are free', () => world.traffic.bodies.used === 0)
  const [{ id: edit_id } = { id: '' }] = await editsOf(world, app_id)
  const before = world.traffic.responses.used
  const status = client.callTool('edits_status', { app_id, edit_id, wait: 25 })
  await until('it waits', () => world.traffic.responses.used > before)
  await until('its bytes are free, too', () => world.traffic.bodies.used === 0)
  await release('red')
  t.match((await status).structured, { status: 'completed' })
  t.match((await called).structured, { status: 'completed', prompt: 'red' })
})

await t.test('neither a resource nor a part of a result is waited for', async (t) => {
  // Its time stands still: a wait would not end.
  const world = await deployWorld(t, { protocols: [mcp], clock: createClock(Date.now()) })
  const { id: app_id } = await createApp(world, { name: 'Shop' })
  const { body: queued } = await publish(world, app_id)
  t.equal(queued.status, 'queued')
  const { key } = await world.mintKey({ scopes: ['apps:read', 'deploy:read'] })
  const client = await open(t, world, key)
  const path = `v1/apps/${app_id}/deployments/${queued.id}`
  const { contents } = await client.readResource(`keyhook://${path}`)
  const own = await world.request('GET', `/${path}`, { as: key })
  t.same(JSON.parse(contents[0]?.text ?? ''), own.body)
  await t.rejects(client.readResource(`keyhook://${path}?wait=25`), {
    code: -32602,
    data: { code: 'invalid_request' },
  })

  const given = { app_id, deployment_id: queued.id }
  const read = (more: object) => {
    const place = ['deploy_get', { ...given, ...more }, 0, digestOf(contents[0]?.text ?? '')]
    const cursor = Buffer.from(JSON.stringify(place)).toString('base64url')
    return client.callTool('read_more', { cursor })
  }
  t.match(await read({}), {
    isError: false,
    structured: { text: contents[0]?.text, next_cursor: null },
  })
  t.match(await read({ wait: 25 }), { isError: true, texts: [/invalid_request.*arguments\.wait/s] })
})

await t.test('a revoked key ends the wait', async (t) => {
  const { world, app_id, key, keyId, until: begun } = await heldWorld(t)
  const client = await open(t, world, key)
  const called = client.callTool(
    'edits_create',
    { app_id, prompt: 'red' },
    { onprogress: () => undefined },
  )
  await begun('red')
  t.equal((await world.request('DELETE', `/v1/keys/${keyId}`)).status, 200)
  await t.rejects(
    called.then(({ isError, texts }) => {
      if (isError) throw new Error(texts.join())
    }),
    /revoked/,
  )
  await until('nothing is held', () => isIdle(world))
})

await t.test('a caller with too many streams goes without progress', async (t) => {
  const { world, app_id, key } = await heldWorld(t)
  const apps = [app_id, (await createApp(world)).id, (await createApp(world)).id]
  const client = await open(t, world, key)
  const waiting = new AbortController()
  const reporting = new Set<number>()
  const calls = Array.from({ length: LIMIT }, (_, at) =>
    client
      .callTool(
        'edits_create',
        { app_id: apps[at % 3], prompt: `p${at}` },
        { onprogress: () => reporting.add(at), signal: waiting.signal },
      )
      .catch(() => undefined),
  )
  await until('all report', () => reporting.size === LIMIT)
  const more = await client.callTool(
    'edits_create',
    { app_id, prompt: 'one more', wait: 1 },
    { onprogress: () => t.fail('no stream is left') },
  )
  t.match(more, { isError: false, meta: { 'keyhook/status': 202 } })
  t.match(more.meta['keyhook/watch'], /^keyhook:\/\/v1\/apps\/.*\/edits\//)
  waiting.abort()
  await Promise.all(calls)
  await until('nothing is held', () => isIdle(world))
})
