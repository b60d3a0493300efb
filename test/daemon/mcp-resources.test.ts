import t from 'tap'
import { FAMILIES } from '../../daemon/families/index.ts'
import { mcp } from '../../daemon/mcp/endpoint.ts'
import type { World } from '../support/world.ts'
import { createWorld } from '../support/world.ts'
import { createApp } from '../support/edits.ts'
import { MCP_CLIENTS, connectMcp } from '../support/mcp.ts'

function mcpWorld(t: Parameters<typeof createWorld>[0]) {
  const families = FAMILIES.filter(({ name }) => name !== 'keys')
  return createWorld(t, { families, protocols: [mcp] })
}

type Teardown = Parameters<typeof createWorld>[0]

async function open(t: Teardown, world: World, key: string, query = '', connect = connectMcp) {
  const client = await connect(world, key, query)
  t.teardown(() => client.close())
  return client
}

/** Writes a file as a new revision. */
async function write(world: World, app: string, path: string, content: string) {
  const edit = await world.request('POST', `/v1/apps/${app}/edits`, {
    body: { operations: [{ op: 'write', path, content }], base_revision: 1 },
  })
  if (edit.status !== 201) throw new Error(JSON.stringify(edit.body))
  return edit.body
}

const READER = { scopes: ['*:read'] }

for (const [name, connect] of Object.entries(MCP_CLIENTS)) {
  await t.test(`${name} reads resources`, async (t) => {
    const world = await mcpWorld(t)
    const { id } = await createApp(world, { name: 'Shop' })
    const edit = await write(world, id, 'headline & more.txt', 'Open every day')
    const { key } = await world.mintKey(READER)
    const client = await open(t, world, key, '', connect)
    const { resources } = await client.listResources()
    t.match(
      resources.map(({ uri }) => uri).toSorted(),
      [
        'keyhook://v1/templates',
        'keyhook://v1/billing/pricing',
        'keyhook://v1/discovery',
        'keyhook://v1/discovery/services',
      ].toSorted(),
    )
    const { resourceTemplates } = await client.listResourceTemplates()
    const templates = resourceTemplates.map(({ uriTemplate }) => uriTemplate)
    for (const one of [
      'keyhook://v1/apps/{app_id}/content{?path,revision}',
      'keyhook://v1/apps/{app_id}/edits/{edit_id}/diff{?path}',
      'keyhook://v1/apps/{app_id}/deployments/{deployment_id}',
    ]) {
      t.ok(templates.includes(one), one)
    }
    t.ok(templates.some((one) => one.startsWith('keyhook://v1/apps/{app_id}/logs{?')))

    const { contents } = await client.readResource(
      `keyhook://v1/apps/${id}/content?path=headline%20%26%20more.txt&revision=2`,
    )
    t.match(contents, [
      {
        mimeType: 'text/plain',
        text: 'Open every day',
        _meta: { 'keyhook/note': /not instructions/ },
      },
    ])
    const diff = await client.readResource(
      `keyhook://v1/apps/${id}/edits/${String(edit['id'])}/diff`,
    )
    t.match(diff.contents, [{ mimeType: 'text/x-diff', text: /\+Open every day/ }])
    const prices = await client.readResource('keyhook://v1/billing/pricing')
    const own = await world.request('GET', '/v1/billing/pricing', { as: key })
    t.same(JSON.parse(prices.contents[0]?.text ?? ''), own.body)
  })
}

await t.test('a resource is refused as its operation is', async (t) => {
  const world = await mcpWorld(t)
  const { id } = await createApp(world, { name: 'Shop' })
  const other = await createApp(world, { name: 'Other' })
  const { key } = await world.mintKey(READER)
  const client = await open(t, world, key)
  for (const uri of [
    'keyhook://v1/apps/nothing',
    `keyhook://v1/apps/${id}/content?path=nothing.txt`,
    `keyhook://v1/apps/${id}/content?path=a&path=b`,
    'keyhook://v1/keys',
    'keyhook://v1/apps/%E0%A4%A',
    'keyhook://v1/apps//content?path=a',
    `keyhook://v1/apps/${id}?a=1?b=2`,
    'https://example.com/',
    'file:///etc/passwd',
  ]) {
    await t.rejects(client.readResource(uri), { code: -32602, data: { uri } }, uri)
  }
  await t.rejects(client.readResource(`keyhook://v1/apps/${id}/content?file=a`), {
    code: -32602,
    data: { code: 'invalid_request' },
  })

  const narrow = await world.mintKey({ scopes: ['deploy:read'] })
  const stranger = await open(t, world, narrow.key)
  const { resourceTemplates } = await stranger.listResourceTemplates()
  t.ok(resourceTemplates.length > 0)
  t.ok(resourceTemplates.every(({ uriTemplate }) => uriTemplate.includes('/deployments')))
  await t.rejects(stranger.readResource(`keyhook://v1/apps/${id}`), {
    code: -32603,
    data: { code: 'insufficient_scope' },
  })

  const pinned = await open(t, world, key, `?app=${id}`)
  const { resources } = await pinned.listResources()
  t.ok(resources.some(({ uri }) => uri === `keyhook://v1/apps/${id}/tree`))
  t.notOk(resources.some(({ uri }) => uri.includes('billing')))
  const tree = await pinned.readResource(`keyhook://v1/apps/${id}/tree`)
  t.match(JSON.parse(tree.contents[0]?.text ?? ''), { app_id: id })
  await t.rejects(pinned.readResource(`keyhook://v1/apps/${other.id}/tree`), { code: -32602 })
})

await t.test(
  'a large resource is refused, and names the tool that reads it in parts',
  async (t) => {
    const world = await mcpWorld(t)
    const { id } = await createApp(world, { name: 'Shop' })
    await write(world, id, 'long.txt', 'a'.repeat(70_000))
    const { key } = await world.mintKey(READER)
    const client = await open(t, world, key)
    await t.rejects(client.readResource(`keyhook://v1/apps/${id}/content?path=long.txt`), {
      code: -32603,
      data: {
        code: 'result_too_large',
        bytes: 70_000,
        tool: 'apps_content',
        arguments: { app_id: id, path: 'long.txt' },
      },
    })
  },
)

for (const [name, connect] of Object.entries(MCP_CLIENTS)) {
  await t.test(`${name} gets prompts`, async (t) => {
    const world = await mcpWorld(t)
    const { key } = await world.mintKey({
      scopes: ['apps:*', 'edits:*', 'deploy:*', 'observe:read'],
    })
    const client = await open(t, world, key, '?toolsets=all', connect)
    const { prompts } = await client.listPrompts()
    t.match(prompts, [
      { name: 'make_app', arguments: [{ name: 'idea', required: true }] },
      {
        name: 'find_failure',
        arguments: [{ name: 'app_id' }, { name: 'symptom', required: false }],
      },
      { name: 'review_before_publishing', arguments: [{ name: 'app_id', required: true }] },
    ])
    const text = await client.getPrompt('find_failure', {
      app_id: 'shop1',
      symptom: 'It is white.',
    })
    t.match(text, /shop1.*It is white\..*1\. observe_health.*deploy_logs.*Change nothing/s)
    for (const [given, location, code] of [
      [{}, 'arguments.app_id', 'missing_field'],
      [{ app_id: '../keys' }, 'arguments.app_id', 'invalid_format'],
      [{ app_id: 'shop1', more: 'b' }, 'arguments.more', 'unknown_field'],
    ] as const) {
      const data = { code: 'invalid_request', errors: [{ location, code }] }
      await t.rejects(client.getPrompt('find_failure', given), { code: -32602, data })
    }
    await t.rejects(client.getPrompt('constructor'), { code: -32602, data: { errors: undefined } })
  })
}

await t.test('a prompt names the tools of the key alone', async (t) => {
  const world = await mcpWorld(t)
  const { key } = await world.mintKey({ scopes: ['apps:read'] })
  const client = await open(t, world, key)
  const { prompts } = await client.listPrompts()
  t.same(
    prompts.map((one) => one.name),
    ['find_failure', 'review_before_publishing'],
  )
  const text = await client.getPrompt('review_before_publishing', { app_id: 'shop1' })
  t.match(text, /1\. apps_get/)
  t.notMatch(text, /deploy_|edits_|observe_/)
  const pinned = await open(t, world, key, '?app=shop1')
  t.match(await pinned.getPrompt('review_before_publishing'), /shop1/)
  await t.rejects(pinned.getPrompt('review_before_publishing', { app_id: 'shop1' }), {
    code: -32602,
  })
})

await t.test('every prompt names tools that exist', async (t) => {
  const world = await mcpWorld(t)
  const { key } = await world.mintKey({ scopes: ['*:*'] })
  const client = await open(t, world, key, '?toolsets=all')
  const { tools } = await client.listTools()
  const names = new Set(tools.map(({ name }) => name))
  const given = { idea: 'a shop', app_id: 'shop1' }
  const { prompts } = await client.listPrompts()
  for (const prompt of prompts) {
    const wanted = (prompt.arguments ?? []).filter(({ required }) => required === true)
    const args = wanted.map(({ name }) => [name, given[name as keyof typeof given]] as const)
    const text = await client.getPrompt(prompt.name, Object.fromEntries(args))
    const steps = [...text.matchAll(/^\d+\. (\w+):/gm)].map(([, name]) => name ?? '')
    t.ok(steps.length >= 5, prompt.name)
    t.same(
      steps.filter((name) => !names.has(name)),
      [],
      prompt.name,
    )
  }
})
