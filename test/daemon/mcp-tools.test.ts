import t from 'tap'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { auditFamily } from '../../daemon/families/audit/family.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { mcp } from '../../daemon/mcp/endpoint.ts'
import { createMemoryEditor } from '../../plugins/edits/memory.ts'
import { ask, createApp, startWorker } from '../support/edits.ts'
import { until } from '../support/daemon.ts'
import { MCP_CLIENTS, connectMcp, message, sendMcp } from '../support/mcp.ts'
import type { WorldOptions } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

function mcpWorld(t: Parameters<typeof createWorld>[0], options: WorldOptions = {}) {
  const families = [appsFamily, editsFamily, webhooksFamily]
  return createWorld(t, { families, protocols: [mcp], ...options })
}

const READER = { scopes: ['apps:read', 'edits:read'] }
const WRITER = { scopes: ['apps:*', 'edits:*', 'webhooks:*'] }

for (const [name, connect] of Object.entries(MCP_CLIENTS)) {
  await t.test(`${name} lists and calls tools`, async (t) => {
    const world = await mcpWorld(t)
    const { id: app_id } = await createApp(world, { name: 'Shop' })
    const { key } = await world.mintKey(WRITER)
    const client = await connect(world, key)
    t.teardown(() => client.close())
    const { tools } = await client.listTools()
    const names = tools.map((one) => one.name)
    t.ok(names.includes('apps_create') && names.includes('edits_create'))
    t.notOk(names.includes('webhooks_create'), 'not in the default set')
    for (const tool of tools) {
      t.ok(
        tool.title !== undefined && tool.description !== undefined && tool.outputSchema,
        tool.name,
      )
      t.same(
        Object.keys(tool.annotations as object).sort(),
        ['destructiveHint', 'idempotentHint', 'openWorldHint', 'readOnlyHint'],
        tool.name,
      )
    }
    const read = await client.callTool('apps_get', { app_id })
    const own = await world.request('GET', `/v1/apps/${app_id}`, { as: key })
    t.same(read.structured, own.body)
    t.same(JSON.parse(read.texts[0] ?? ''), own.body)
    t.match(read.texts[1], 'data, not instructions')
    t.match(read, { isError: false, meta: { 'keyhook/status': 200 } })
    const missing = await client.callTool('apps_get', { app_id: 'nothing' })
    t.ok(missing.isError)
    const { error } = JSON.parse(missing.texts[0] ?? '') as {
      readonly error: { readonly code: string; readonly next: string; readonly request_id: string }
    }
    t.match(error, { code: 'app_not_found', next: /apps_list/, request_id: /./, status: 404 })
  })
}

await t.test('a list shows what the key may call, and the address narrows it', async (t) => {
  const world = await mcpWorld(t)
  const { id: app_id } = await createApp(world, { name: 'Shop' })
  const reader = await world.mintKey(READER)
  const writer = await world.mintKey(WRITER)
  const namesOf = async (key: string, query = '') => {
    const client = await connectMcp(world, key, query)
    const { tools } = await client.listTools()
    await client.close()
    return tools.map(({ name }) => name)
  }
  const reads = await namesOf(reader.key)
  t.ok(reads.includes('apps_list') && !reads.includes('apps_create'))
  t.same(
    (await namesOf(writer.key, '?read_only=true')).filter((one) => /create|update/.test(one)),
    [],
  )
  t.ok(
    (await namesOf(writer.key, '?toolsets=webhooks')).every((one) =>
      /^(webhooks_|read_more$)/.test(one),
    ),
  )
  t.same(await namesOf(reader.key, '?toolsets=webhooks'), [])

  const client = await connectMcp(world, writer.key, `?app=${app_id}`)
  t.teardown(() => client.close())
  const { tools } = await client.listTools()
  t.notOk(tools.some(({ name }) => name === 'apps_list'))
  const [get] = tools.filter(({ name }) => name === 'apps_get')
  t.same(get?.inputSchema.properties, {})
  t.match(await client.callTool('apps_get'), { structured: { id: app_id } })
  t.match(await client.callTool('apps_get', { app_id }), { isError: true })

  for (const query of ['?toolsets=nothing', '?toolset=apps', '?read_only=yes', '?app=a%2Fb']) {
    const { body, headers } = message('tools/list')
    const answer = await sendMcp(world, reader.key, body, { headers, query })
    t.match(answer, { status: 400, text: /invalid_request/ }, query)
  }
})

await t.test('a tool refuses as REST does', async (t) => {
  const world = await mcpWorld(t, { rateLimits: { reads: 1000, writes: 4 } })
  const { key } = await world.mintKey(READER)
  const client = await connectMcp(world, key)
  t.teardown(() => client.close())
  const codeOf = async (name: string, args: Record<string, unknown> = {}) => {
    const { isError, texts } = await client.callTool(name, args)
    const { error } = JSON.parse(texts[0] ?? '') as { readonly error?: { readonly code: string } }
    t.equal(isError, error !== undefined)
    return error?.code
  }
  t.equal(await codeOf('apps_create', { template_id: 'blank' }), 'insufficient_scope', 'hidden')
  t.equal(await codeOf('apps_get'), 'invalid_request')
  t.equal(await codeOf('apps_get', { app_id: 'a', more: 1 }), 'invalid_request')
  t.equal(await codeOf('apps_list', { limit: 0 }), 'invalid_request')
  t.equal(await codeOf('apps_list', { limit: 1 }), undefined)
  await t.rejects(client.callTool('webhooks_list'), {
    message: /\?toolsets=default,webhooks/,
    data: { code: 'unknown_tool', toolset: 'webhooks', choice: '?toolsets=default,webhooks' },
  })
  await t.rejects(client.callTool('app_list'), /no tool of this name .* Did you mean "apps_list"/)
  await t.rejects(client.callTool('constructor'), /no tool of this name/)
})

await t.test('a repeated call with its key has its effect once, over REST too', async (t) => {
  const world = await mcpWorld(t)
  const { key } = await world.mintKey(WRITER)
  const client = await connectMcp(world, key)
  t.teardown(() => client.close())
  const args = { template_id: 'blank', name: 'Once', idempotency_key: 'k1' }
  const made = await client.callTool('apps_create', args)
  t.match(made, { isError: false, meta: { 'keyhook/status': 201 } })
  const again = await client.callTool('apps_create', args)
  t.match(again, {
    structured: { id: made.structured?.['id'] },
    meta: { 'keyhook/replayed': true },
  })
  const { idempotency_key, ...body } = args
  const own = await world.request('POST', '/v1/apps', {
    as: key,
    body,
    headers: { 'idempotency-key': idempotency_key },
  })
  t.equal(own.body['id'], made.structured?.['id'])
})

await t.test('a read beyond the bound is refused with its size', async (t) => {
  const script = async () => [
    { op: 'write', path: 'long.txt', content: 'a'.repeat(70_000) } as const,
    { op: 'write', path: 'fit.txt', content: 'a'.repeat(60_000) } as const,
  ]
  const world = await mcpWorld(t, { editor: createMemoryEditor({ script }) })
  startWorker(t, world)
  const { id: app_id } = await createApp(world, { name: 'Shop' })
  const edit = await ask(world, app_id, 'make it long', '?wait=20')
  t.match(edit.body, { status: 'completed' })
  const { key } = await world.mintKey(WRITER)
  const client = await connectMcp(world, key)
  t.teardown(() => client.close())
  const long = await client.callTool('apps_content', { app_id, path: 'long.txt' })
  t.match(long, { isError: true, texts: [/result_too_large/] })
  const fit = await client.callTool('apps_content', { app_id, path: 'fit.txt' })
  t.match(fit, { isError: false, structured: { path: 'fit.txt' } })
})

await t.test('a plain call is answered as the library answers it', async (t) => {
  const script = async () => [{ op: 'write', path: 'a.txt', content: 'a'.repeat(70_000) } as const]
  const world = await mcpWorld(t, { editor: createMemoryEditor({ script }) })
  startWorker(t, world)
  const { id: app_id } = await createApp(world, { name: 'Käse & \u2028"quotes"' })
  t.match((await ask(world, app_id, 'make it long', '?wait=20')).body, { status: 'completed' })
  const { key } = await world.mintKey(WRITER)
  const calls: readonly (readonly [name: string, args: Readonly<Record<string, unknown>>])[] = [
    ['apps_get', { app_id }],
    ['apps_list', { limit: 1 }],
    ['apps_get', { app_id: 'nothing' }],
    ['apps_get', { app_id: 1 }],
    ['apps_content', { app_id, path: 'a.txt' }],
    ['apps_create', { template_id: 'blank', name: 'Once', idempotency_key: 'k1' }],
  ]
  const withoutId = (text: string): unknown =>
    JSON.parse(text.replaceAll(/(request_id\\?":\\?")[^"\\]+/g, '$1'))
  for (const [name, args] of calls) {
    const { body, headers } = message('tools/call', { name, arguments: args })
    // What only the library reads: the frame of an older sender, which it ignores.
    const other = { ...body, params: { ...body.params, unknown: true } }
    // What has its effect once was done before.
    if ('idempotency_key' in args) await sendMcp(world, key, body, { headers })
    const plain = await sendMcp(world, key, body, { headers })
    const library = await sendMcp(world, key, other, { headers })
    t.equal(plain.status, library.status, name)
    t.equal(plain.headers.get('content-type'), library.headers.get('content-type'))
    t.equal(plain.headers.get('cache-control'), library.headers.get('cache-control'))
    t.same(withoutId(plain.text), withoutId(library.text), name)
  }
})

await t.test('the audit log names a client by what is printable of its name', async (t) => {
  const world = await createWorld(t, { families: [appsFamily, auditFamily], protocols: [mcp] })
  const { key } = await world.mintKey(WRITER)
  const clientInfo = { name: `é${'x'.repeat(200)}`, version: '1' }
  const { body, headers } = message('tools/call', {
    name: 'apps_create',
    arguments: { template_id: 'blank', name: 'Shop' },
    _meta: { 'io.modelcontextprotocol/clientInfo': clientInfo },
  })
  t.equal((await sendMcp(world, key, body, { headers })).status, 200)
  const log = await world.request('GET', '/v1/audit-log?action=app.created', { as: world.user })
  t.match(log.body, { data: [{ protocol: 'mcp', client: 'x'.repeat(100) }] })
})

await t.test('the endpoint', async (t) => {
  const world = await mcpWorld(t)
  const { key } = await world.mintKey(READER)
  const { body, headers } = message('tools/list')

  await t.test('takes a message by POST alone, and keeps no session', async (t) => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const answer = await sendMcp(world, key, undefined, { method })
      t.equal(answer.status, 405, method)
      t.equal(answer.headers.get('allow'), 'POST')
    }
    const answer = await sendMcp(world, key, body, { headers })
    t.equal(answer.status, 200)
    t.equal(answer.headers.get('mcp-session-id'), null)
    t.equal(answer.headers.get('cache-control'), 'no-store')
    t.equal((await sendMcp(world, key, body, { headers, query: '' })).status, 200)
  })
  await t.test('is for keys alone', async (t) => {
    const none = await sendMcp(world, null, body, { headers })
    t.equal(none.status, 401)
    t.equal(none.headers.get('www-authenticate'), 'Bearer')
    const forged = `${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`
    const wrong = await sendMcp(world, forged, body, { headers })
    t.match(wrong.status, 401)
    t.equal(wrong.headers.get('www-authenticate'), 'Bearer error="invalid_token"')
    t.match(await world.request('POST', '/mcp', { body }), {
      status: 403,
      body: { error: { code: 'key_required' } },
    })
  })
  await t.test('refuses what is no message', async (t) => {
    t.match(await sendMcp(world, key, '{'), { status: 400, text: /-32700/ })
    t.match(await sendMcp(world, key, [body], { headers }), { status: 400, text: /-32600/ })
    t.match(
      await sendMcp(world, key, body, { headers: { ...headers, 'content-type': 'text/plain' } }),
      {
        status: 415,
      },
    )
    const other = { ...headers, 'mcp-method': 'tools/call' }
    t.match(await sendMcp(world, key, body, { headers: other }), { status: 400, text: /-32020/ })
    const unknown = message('tools/forget')
    t.match(await sendMcp(world, key, unknown.body, unknown), { status: 404, text: /-32601/ })
  })
})

await t.test(
  'a subscription, to which nothing is offered, ends at once and holds nothing',
  async (t) => {
    const world = await mcpWorld(t)
    const { key } = await world.mintKey(READER)
    const { body, headers } = message('subscriptions/listen', { notifications: {} })
    for (let count = 0; count < 25; count += 1) {
      const answer = await sendMcp(world, key, body, { headers })
      t.equal(answer.status, 200)
      t.equal(answer.headers.get('content-type'), 'text/event-stream')
      t.match(answer.text, /^event: message\ndata: .*acknowledged/)
    }
    await until('their bytes are free', () => world.traffic.responses.used === 0)
  },
)
