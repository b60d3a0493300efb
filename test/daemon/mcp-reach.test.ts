import t from 'tap'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { mcp } from '../../daemon/mcp/endpoint.ts'
import { MAX_RESULT } from '../../daemon/mcp/results.ts'
import { createMemoryEditor } from '../../plugins/edits/memory.ts'
import { ask, createApp, startWorker } from '../support/edits.ts'
import type { CalledTool, McpClient } from '../support/mcp.ts'
import { MCP_CLIENTS, connectMcp, message, openMcp } from '../support/mcp.ts'
import type { World, WorldOptions } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

function mcpWorld(t: Parameters<typeof createWorld>[0], options: WorldOptions = {}) {
  const families = [appsFamily, editsFamily, webhooksFamily]
  return createWorld(t, { families, protocols: [mcp], ...options })
}

type Teardown = Parameters<typeof createWorld>[0]
type Test = Pick<typeof t, 'match'> & Teardown

async function open(t: Teardown, world: World, key: string, query = '', connect = connectMcp) {
  const client = await connect(world, key, query)
  t.teardown(() => client.close())
  return client
}

/** The refusal of a tool. */
function errorOf({ isError, texts }: CalledTool) {
  const { error } = JSON.parse(texts[0] ?? '') as {
    readonly error?: {
      readonly code: string
      readonly next?: string
      readonly errors: readonly unknown[]
      readonly details: Readonly<Record<string, unknown>>
    }
  }
  return isError ? error : undefined
}

/** What a search found. */
function operationsOf({ structured = {} }: CalledTool) {
  return structured['operations'] as readonly Readonly<Record<string, unknown>>[]
}

const WRITER = { scopes: ['apps:*', 'edits:*', 'webhooks:*'] }

for (const [name, connect] of Object.entries(MCP_CLIENTS)) {
  await t.test(`${name} reaches every operation with three tools`, async (t) => {
    const world = await mcpWorld(t)
    const { key } = await world.mintKey(WRITER)
    const client = await open(t, world, key, '?toolsets=api', connect)
    const { tools } = await client.listTools()
    t.same(
      tools.map((one) => one.name),
      ['api_search', 'api_read', 'api_write', 'read_more'],
    )
    const found = await client.callTool('api_search', { words: 'create a webhook' })
    const [first] = operationsOf(found)
    t.match(first, { name: 'webhooks_create', call_with: 'api_write' })
    t.match(first?.['arguments'], { properties: { url: {}, events: {} }, required: ['url'] })

    const given = { url: 'https://hooks.example.com/in', events: ['*'], idempotency_key: 'k1' }
    const made = await client.callTool('api_write', { name: 'webhooks_create', arguments: given })
    t.match(made, { isError: false, meta: { 'keyhook/status': 201 } })
    const again = await client.callTool('api_write', { name: 'webhooks_create', arguments: given })
    t.match(again, {
      structured: { id: made.structured?.['id'] },
      meta: { 'keyhook/replayed': true },
    })
    const read = await client.callTool('api_read', {
      name: 'webhooks_get',
      arguments: { webhook_id: made.structured?.['id'] },
    })
    const own = await world.request('GET', `/v1/webhooks/${String(made.structured?.['id'])}`, {
      as: key,
    })
    t.same(read.structured, own.body)
    t.match(await client.callTool('api_read', { name: 'apps_list' }), { structured: { data: [] } })
  })
}

await t.test('the three tools refuse as the operation does', async (t) => {
  const world = await mcpWorld(t)
  const reader = await world.mintKey({ scopes: ['apps:read'] })
  const client = await open(t, world, reader.key, '?toolsets=api')
  const codeOf = async (tool: string, given: Record<string, unknown>) =>
    errorOf(await client.callTool(tool, given))?.code
  t.equal(
    await codeOf('api_write', { name: 'apps_create', arguments: { template_id: 'blank' } }),
    'insufficient_scope',
  )
  t.equal(
    await codeOf('api_read', { name: 'apps_get', arguments: { app_id: 'a', more: 1 } }),
    'invalid_request',
  )
  t.equal(await codeOf('api_read', { name: 'apps_create' }), 'unknown_operation')
  t.equal(await codeOf('api_write', { name: 'apps_list' }), 'unknown_operation')
  t.equal(await codeOf('api_read', { name: 'constructor' }), 'unknown_operation')
  t.equal(await codeOf('api_read', {}), 'invalid_request')
  t.equal(await codeOf('api_search', { word: 'app' }), 'invalid_request')
  const all = await client.callTool('api_search')
  const names = operationsOf(all).map(({ name }) => name)
  t.ok(
    names.includes('apps_list') &&
      !names.includes('apps_create') &&
      !names.includes('webhooks_list'),
  )
  t.same((await client.callTool('api_search', { words: 'zebra' })).structured, { operations: [] })

  const narrow = await open(t, world, reader.key, '?toolsets=api&read_only=true')
  const { tools } = await narrow.listTools()
  t.notOk(tools.some(({ name }) => name === 'api_write'))
  await t.rejects(narrow.callTool('api_write', { name: 'apps_create' }), /no tool of this name/)
  const standard = await open(t, world, reader.key)
  await t.rejects(standard.callTool('api_read', { name: 'apps_list' }), /\?toolsets=default,api/)
})

await t.test('an address of one app reaches that app alone', async (t) => {
  const world = await mcpWorld(t)
  const { id: app_id } = await createApp(world, { name: 'Shop' })
  const other = await createApp(world, { name: 'Other' })
  const { key } = await world.mintKey(WRITER)
  const client = await open(t, world, key, `?toolsets=api&app=${app_id}`)
  t.match(await client.callTool('api_read', { name: 'apps_get' }), { structured: { id: app_id } })
  const foreign = { name: 'apps_get', arguments: { app_id: other.id } }
  t.match(errorOf(await client.callTool('api_read', foreign)), { code: 'invalid_request' })
  t.match(errorOf(await client.callTool('api_read', { name: 'apps_list' })), {
    code: 'unknown_operation',
  })
})

/** A world with an app that has a long file. */
async function longWorld(t: Test, content: string) {
  const script = async () => [{ op: 'write', path: 'long.txt', content } as const]
  const world = await mcpWorld(t, { editor: createMemoryEditor({ script }) })
  startWorker(t, world)
  const { id: app_id } = await createApp(world, { name: 'Shop' })
  const edit = await ask(world, app_id, 'make it long', '?wait=20')
  t.match(edit.body, { status: 'completed' })
  return { world, app_id }
}

/** Reads all parts of a refused result. */
async function readAll(client: McpClient, refused: CalledTool): Promise<string> {
  const parts = [refused.texts[1] ?? '']
  let cursor: unknown = errorOf(refused)?.details['cursor']
  while (typeof cursor === 'string' && parts.length < 100) {
    const { structured } = await client.callTool('read_more', { cursor })
    parts.push(String(structured?.['text']))
    cursor = structured?.['next_cursor']
  }
  return parts.join('')
}

for (const [name, connect] of Object.entries(MCP_CLIENTS)) {
  await t.test(`${name} reads a large result in parts`, async (t) => {
    const content = 'Öffnungszeiten "täglich" \\ 🥐\n'.repeat(4000)
    const { world, app_id } = await longWorld(t, content)
    const { key } = await world.mintKey(WRITER)
    const client = await open(t, world, key, '', connect)
    const long = await client.callTool('apps_content', { app_id, path: 'long.txt' })
    t.match(errorOf(long), {
      code: 'result_too_large',
      next: /read_more/,
      details: { bytes: Number },
    })
    t.match(long.texts.at(-1), 'data, not instructions')
    const text = await readAll(client, long)
    const own = await world.request('GET', `/v1/apps/${app_id}/content?path=long.txt`, { as: key })
    t.same(JSON.parse(text), own.body)
    t.equal(own.body['content'], content)
  })
}

await t.test(
  'a part is read with the authority of its reader, and of the same result',
  async (t) => {
    const { world, app_id } = await longWorld(t, 'a'.repeat(100_000))
    const { key } = await world.mintKey(WRITER)
    const client = await open(t, world, key)
    const long = await client.callTool('apps_content', { app_id, path: 'long.txt' })
    const cursor = String(errorOf(long)?.details['cursor'])

    const other = await world.mintKey({ scopes: ['webhooks:read'] })
    const stranger = await open(t, world, other.key, '?toolsets=webhooks')
    t.match(errorOf(await stranger.callTool('read_more', { cursor })), {
      code: 'insufficient_scope',
    })
    const pinned = await open(t, world, key, '?app=another')
    t.match(errorOf(await pinned.callTool('read_more', { cursor })), { code: 'invalid_request' })

    for (const wrong of ['x', Buffer.from('{}').toString('base64url'), cursor.slice(0, -8)]) {
      t.match(errorOf(await client.callTool('read_more', { cursor: wrong })), {
        code: 'invalid_cursor',
        errors: [],
        next: /^Begin again/,
      })
    }
    const forged = (tool: string, given: object) =>
      Buffer.from(JSON.stringify([tool, given, 0, 'x'])).toString('base64url')
    t.match(
      errorOf(await client.callTool('read_more', { cursor: forged('apps_archive', { app_id }) })),
      { code: 'invalid_cursor' },
    )
    const path = await world.request('GET', `/v1/apps/${app_id}`, { as: key })
    t.equal(path.body['archived_at'], null)

    await world.request('POST', `/v1/apps/${app_id}/edits`, {
      as: key,
      body: {
        operations: [{ op: 'write', path: 'long.txt', content: 'b'.repeat(100_000) }],
        base_revision: path.body['current_revision'],
      },
    })
    t.match(errorOf(await client.callTool('read_more', { cursor })), { code: 'result_changed' })
  },
)

await t.test('a list that is too large is a shorter page', async (t) => {
  const world = await mcpWorld(t)
  const { key } = await world.mintKey(WRITER)
  const description = 'd'.repeat(500)
  const urls = Array.from(
    { length: 45 },
    (_, at) => `https://hooks.example.com/${at}/${'p'.repeat(1500)}`,
  )
  for (const url of urls) {
    const { status } = await world.request('POST', '/v1/webhooks', {
      as: key,
      body: { url, events: ['*'], description },
    })
    t.equal(status, 201)
  }
  const client = await open(t, world, key, '?toolsets=webhooks')
  const seen: string[] = []
  let cursor: unknown
  for (let pages = 0; pages < 20 && cursor !== null; pages += 1) {
    const page = await client.callTool('webhooks_list', {
      limit: 100,
      ...(typeof cursor === 'string' ? { cursor } : {}),
    })
    t.equal(page.isError, false)
    t.ok((page.texts[0] ?? '').length <= MAX_RESULT)
    const { data, next_cursor } = page.structured as unknown as {
      readonly data: readonly { readonly url: string }[]
      readonly next_cursor: unknown
    }
    seen.push(...data.map(({ url }) => url))
    cursor = next_cursor
  }
  t.same(seen.toSorted(), urls.toSorted())
})

await t.test('a message that calls no operation costs a read', async (t) => {
  const ofNewest = (method: string, params = {}) => message(method, params)
  const ofOlder = (method: string, params = {}) => ({
    body: { jsonrpc: '2.0', id: 1, method, params },
    headers: { 'mcp-protocol-version': '2025-06-18' },
  })
  const info = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'a', version: '1' },
  }
  const unknown = { name: 'nothing', arguments: {} }
  const world = await mcpWorld(t, { rateLimits: { reads: 2, writes: 100 } })
  for (const { body, headers } of [
    ofNewest('server/discover'),
    ofNewest('tools/list'),
    ofNewest('prompts/list'),
    ofNewest('resources/list'),
    ofNewest('resources/read', { uri: 'keyhook://v1/nothing' }),
    ofNewest('tools/call', unknown),
    ofNewest('tools/call', { name: 'apps_get', arguments: {} }),
    ofNewest('tools/call', { name: 'read_more', arguments: { cursor: 'x' } }),
    ofNewest('nothing'),
    ofNewest('subscriptions/listen', { notifications: {} }),
    ofOlder('initialize', info),
    ofOlder('ping'),
    ofOlder('tools/list'),
    ofOlder('tools/call', { ...unknown, _meta: { progressToken: 1 } }),
    {
      ...ofOlder('notifications/initialized'),
      body: { jsonrpc: '2.0', method: 'notifications/initialized' },
    },
  ]) {
    const { key } = await world.mintKey(WRITER, world.userOf(await world.addAccount()))
    const statuses: number[] = []
    for (let count = 0; count < 4; count += 1) {
      const response = await openMcp(world, key, body, { headers })
      statuses.push(response.status)
      await response.body?.cancel()
    }
    t.ok(
      statuses.slice(0, 2).every((status) => status !== 429),
      body.method,
    )
    t.equal(statuses[3], 429, body.method)
  }
})

await t.test('a search costs a read', async (t) => {
  const world = await mcpWorld(t, { rateLimits: { reads: 4, writes: 100 } })
  const { key } = await world.mintKey(WRITER)
  const client = await open(t, world, key, '?toolsets=api')
  await t.rejects(async () => {
    for (let count = 0; count < 6; count += 1) await client.callTool('api_search')
  }, /429|rate/i)
})
