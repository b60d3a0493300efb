import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import t from 'tap'
import { z } from 'zod'
import { a2aProtocol } from '../../daemon/a2a/endpoint.ts'
import type { AgentCard } from '../../daemon/agents/card.ts'
import { publicCard } from '../../daemon/agents/card.ts'
import { skillsOf } from '../../daemon/agents/skills.ts'
import { toolsOf } from '../../daemon/agents/tools.ts'
import type { Answer } from '../../daemon/cli/ask.ts'
import { runCli } from '../../daemon/cli/program.ts'
import { commandsOf } from '../../daemon/operations/commands.ts'
import type { CommandRequest } from '../../daemon/cli/request.ts'
import { createClient, ROUTES, routesOf } from '../../daemon/client/index.ts'
import { apiMarkdown } from '../../daemon/docs/reference.ts'
import { IDENTIFIERS, defineEvents } from '../../daemon/events/types.ts'
import { discoveryFamily } from '../../daemon/families/discovery/family.ts'
import { FAMILIES, errorRows } from '../../daemon/families/index.ts'
import { defineFamily } from '../../daemon/operations/family.ts'
import { operation } from '../../daemon/operations/operation.ts'
import { documents } from '../../daemon/http/documents.ts'
import type { RequestState } from '../../daemon/http/state.ts'
import { mcp } from '../../daemon/mcp/endpoint.ts'
import { describeApi } from '../../daemon/openapi/document.ts'
import { apiPages } from '../../daemon/openapi/pages.ts'
import { defineErrors } from '../../lib/errors.ts'
import { connectMcp } from '../support/mcp.ts'
import { sendSkill } from '../support/protocols.ts'
import type { AnyBody } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

interface Discovered extends AnyBody {
  readonly tools: readonly { readonly name: string }[]
  readonly toolsets: readonly string[]
}

/** What receivers are told, by type. */
interface Described {
  readonly webhooks: Readonly<
    Record<string, { readonly post: { readonly requestBody: { readonly content: Content } } }>
  >
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

interface Content {
  readonly 'application/json': {
    readonly schema: { readonly properties: { readonly data: unknown } }
  }
}

/** The one declaration: everything below is derived from it. */
const boilPot = operation({
  effect: 'write',
  id: 'pots.boil_over',
  summary: 'Boil a pot over',
  method: 'POST',
  path: '/v1/pots/{pot_id}/boil-over',
  access: { scope: 'pots:write', pinned: 'allowed' },
  agent: {
    toolset: 'pots',
    destructive: true,
    skill: { name: 'Boil over', tags: ['pots'], examples: ['Boil p1 over.'] },
  },
  emits: ['pots'],
  input: {
    params: z.strictObject({ pot_id: z.string().max(20) }),
    query: z.strictObject({ lid: z.enum(['on', 'off']).optional() }),
    body: z.strictObject({ degrees: z.int().max(120).meta({ description: 'As hot as this.' }) }),
  },
  output: z.strictObject({ id: z.string(), degrees: z.int(), lid: z.string() }),
  status: 202,
  errors: ['pot_cracked'],
  example: {
    params: { pot_id: 'p1' },
    body: { degrees: 100 },
    response: { id: 'p1', degrees: 100, lid: 'off' },
  },
  command: 'pot boil-over',
  run({ params, query, body }) {
    if (body.degrees > 100) throw potError('pot_cracked')
    return Promise.resolve({ id: params.pot_id, lid: query.lid ?? 'off', ...body })
  },
})
const potError = defineErrors({ pot_cracked: { status: 409, text: 'The pot has <cracked>.' } })
const potsFamily = defineFamily({
  name: 'pots',
  scopes: { pots: ['write'] },
  events: [],
  errors: potError,
  operations: [boilPot],
})

const families = [...FAMILIES, potsFamily]
const pages = apiPages(families, errorRows(families), 'http://127.0.0.1:8420')

await t.test('one operation of a family is a route, with its checks', async (t) => {
  const { request, mintKey } = await createWorld(t, { families: [potsFamily] })
  const { key } = await mintKey({ scopes: ['pots:write'] })
  const path = '/v1/pots/p1/boil-over'
  const boiled = await request('POST', `${path}?lid=on`, { as: key, body: { degrees: 90 } })
  t.match(boiled, { status: 202, body: { id: 'p1', degrees: 90, lid: 'on' } })
  const cracked = await request('POST', path, { as: key, body: { degrees: 110 } })
  t.match(cracked, { status: 409, body: { error: { code: 'pot_cracked' } } })
  const invalid = await request('POST', path, { as: key, body: { degrees: 'hot' } })
  t.match(invalid, { status: 400, body: { error: { errors: [{ location: 'body.degrees' }] } } })
  const stranger = await mintKey({ scopes: ['keys:read'] })
  t.match(await request('POST', path, { as: stranger.key, body: { degrees: 90 } }), {
    status: 403,
    body: { error: { code: 'insufficient_scope' } },
  })
})

await t.test('a misspelled error code or event type does not compile', async (t) => {
  const misspelled = operation({ ...boilPot, errors: ['pot_craked'] })
  // @ts-expect-error: no family that it needs declares this code
  t.ok(defineFamily({ ...potsFamily, operations: [misspelled] }))
  const { platform } = await createWorld(t)
  const potEvents = defineEvents([
    { type: 'pot.boiled', scope: IDENTIFIERS, description: 'A pot boils.', sample: {} },
  ])
  // @ts-expect-error: no such type is declared
  t.ok(potEvents.newEvent(platform.engine, 'a', 'pot.boilt', {}, 0, null))
})

await t.test('an event is documented by its schema, or else by its sample', (t) => {
  const lid = z.strictObject({ fits: z.boolean() }).meta({ id: 'Lid' })
  const pot = z.strictObject({ id: z.string(), lids: z.array(lid) }).meta({ id: 'Pot' })
  const showPot = { ...boilPot, id: 'pots.show', path: '/v1/pots', output: pot }
  const common = { scope: IDENTIFIERS, description: 'A pot boils.' }
  const events = [
    { ...common, type: 'pot.boiled', schema: pot, sample: { id: 'p1', lids: [] } },
    { ...common, type: 'pot.cracked', sample: { id: 'p1', cracks: [1] } },
    { ...common, type: 'pot.cleaned', schema: z.strictObject({ by: z.string() }), sample: {} },
  ]
  const family = { ...potsFamily, events, operations: [showPot] }
  const described = describeApi([family], errorRows([family]), 'http://127.0.0.1')
  const { webhooks, components } = JSON.parse(JSON.stringify(described)) as Described
  const dataOf = (type: string): unknown =>
    webhooks[type]?.post.requestBody.content['application/json'].schema.properties.data
  const closed = { additionalProperties: false }
  t.match(components.schemas, { Pot: closed, Lid: closed }, 'what operations return is exact')
  const opened = { type: 'object', properties: { fits: { type: 'boolean' } }, required: ['fits'] }
  t.strictSame(dataOf('pot.boiled'), {
    type: 'object',
    properties: { id: { type: 'string' }, lids: { type: 'array', items: opened } },
    required: ['id', 'lids'],
  })
  t.strictSame(dataOf('pot.cracked'), {
    title: 'PotCrackedData',
    type: 'object',
    properties: {
      id: { type: ['string', 'null'] },
      cracks: { type: 'array', items: { type: ['integer', 'null'], format: 'int64' } },
    },
  })
  t.strictSame(dataOf('pot.cleaned'), {
    title: 'PotCleanedData',
    type: 'object',
    properties: { by: { type: 'string' } },
    required: ['by'],
  })
  t.end()
})

await t.test('data that is not that of its type does not compile', async (t) => {
  const { platform } = await createWorld(t)
  const schema = z.strictObject({ degrees: z.int() })
  const described = { scope: IDENTIFIERS, description: 'A pot boils.', sample: {} }
  const potEvents = defineEvents([
    { ...described, type: 'pot.boiled', schema },
    { ...described, type: 'pot.cracked' },
  ])
  const { engine } = platform
  t.ok(potEvents.newEvent(engine, 'a', 'pot.boiled', { degrees: 100 }, 0, null))
  t.ok(potEvents.newEvent(engine, 'a', 'pot.cracked', { anything: 1 }, 0, null))
  // @ts-expect-error: its schema says a number
  t.ok(potEvents.newEvent(engine, 'a', 'pot.boiled', { degrees: 'hot' }, 0, null))
  // @ts-expect-error: its schema has no other member
  t.ok(potEvents.newEvent(engine, 'a', 'pot.boiled', { degrees: 100, lid: 'on' }, 0, null))
})

await t.test('it is a method of the client, beside those of the service', async (t) => {
  const { baseUrl, mintKey } = await createWorld(t, { families: [potsFamily] })
  const { key } = await mintKey({ scopes: ['pots:write', 'keys:read'] })
  const routes = [...ROUTES, ...routesOf([boilPot])]
  const client = createClient({ baseUrl, key, routes })
  const { degrees, lid } = await client.pots.boilOver({ pot_id: 'p1', lid: 'on', degrees: 90 })
  t.same([degrees, lid], [90, 'on'])
  t.match(await client.keys.self(), { effective_scopes: ['keys:read', 'pots:write'] })
  await t.rejects(client.pots.boilOver({ pot_id: 'p1', degrees: 110 }), { code: 'pot_cracked' })
  // @ts-expect-error: the compiler knows the operation
  await t.rejects(client.pots.boilOver({ pot_id: 'p1' }), { code: 'invalid_request' })
})

await t.test('it is a tool and a skill, and discovery lists both', async (t) => {
  const tools = toolsOf(families)
  t.match(
    tools.find(({ name }) => name === 'pots_boil_over'),
    {
      listed: {
        title: 'Boil a pot over',
        description:
          'Boil a pot over. Needs pots:write. A call repeated with its idempotency_key has its effect once.',
        inputSchema: {
          type: 'object',
          properties: {
            pot_id: { type: 'string' },
            lid: { type: 'string', enum: ['on', 'off'] },
            degrees: { type: 'integer', description: 'As hot as this.' },
            idempotency_key: { type: 'string' },
          },
          required: ['pot_id', 'degrees'],
          additionalProperties: false,
        },
        outputSchema: { type: 'object', required: ['id', 'degrees', 'lid'] },
        annotations: {
          readOnlyHint: false,
          destructiveHint: true,
          idempotentHint: false,
          openWorldHint: false,
        },
      },
    },
  )
  t.match(
    skillsOf(tools).find(({ id }) => id === 'pots_boil_over'),
    { skill: { name: 'Boil over' }, scopes: ['pots:write'] },
  )
  const { request, mintKey } = await createWorld(t, { families: [discoveryFamily, potsFamily] })
  const { key } = await mintKey({ scopes: ['discovery:read'] })
  const { body } = await request<Discovered>('GET', '/v1/discovery', { as: key })
  t.ok(body.toolsets.includes('pots'))
  t.match(
    body.tools.find(({ name }) => name === 'pots_boil_over'),
    { operation: 'pots.boil_over', toolset: 'pots', skill: 'Boil over', allowed: false },
  )
})

await t.test('it is called over MCP and A2A, and is on both cards', async (t) => {
  const added = [discoveryFamily, potsFamily]
  const protocols = [mcp, a2aProtocol(added)]
  const world = await createWorld(t, { families: added, protocols })
  const { key } = await world.mintKey({ scopes: ['pots:write', 'discovery:read'] })
  const client = await connectMcp(world, key, '?toolsets=pots')
  t.teardown(() => client.close())
  const { tools } = await client.listTools()
  t.ok(tools.some(({ name }) => name === 'pots_boil_over'))
  const args = { pot_id: 'p1', lid: 'on', degrees: 90 }
  const boiled = await client.callTool('pots_boil_over', args)
  t.match(boiled, { isError: false, structured: { id: 'p1', degrees: 90, lid: 'on' } })
  const cracked = await client.callTool('pots_boil_over', { ...args, degrees: 110 })
  t.match(cracked, { isError: true, texts: [/pot_cracked/] })

  const tool = toolsOf(added).find(({ name }) => name === 'pots_boil_over')
  if (tool === undefined) throw new Error('no tool')
  const { status, body } = await sendSkill(world, key, { tool, args })
  t.match({ status, body }, { status: 202, body: { task: { metadata: { skill: tool.name } } } })
  t.match(await sendSkill(world, key, { tool, args: { ...args, degrees: 110 } }), {
    body: { error: { code: 'pot_cracked' } },
  })
  const shown = await world.request<{ card: AgentCard }>('GET', '/v1/discovery/agent-card', {
    as: key,
  })
  for (const { skills } of [publicCard(world.platform), shown.body.card]) {
    t.match(
      skills.find(({ id }) => id === 'pots_boil_over'),
      { name: 'Boil over', tags: ['pots'], examples: ['Boil p1 over.'] },
    )
  }
})

await t.test('it is a command', async (t) => {
  const asked: CommandRequest[] = []
  let out = ''
  const terminal = {
    env: {},
    out: (text: string) => void (out += text),
    err: t.fail,
    readInput: () => Promise.resolve(''),
  }
  const ask = (request: CommandRequest): Promise<Answer> => {
    asked.push(request)
    return Promise.resolve({ status: 202, text: JSON.stringify(boilPot.example.response) })
  }
  const line = ['pot', 'boil-over', 'p1', '--degrees', '100']
  t.equal(await runCli(line, terminal, commandsOf(families), ask), 0)
  t.same(asked, [{ method: 'POST', path: '/v1/pots/p1/boil-over', body: '{"degrees":100}' }])
  t.match(out, /^degrees +100$/m)
  out = ''
  t.equal(await runCli(['pot', 'boil-over', '--help'], terminal, commandsOf(families), ask), 0)
  t.match(out, 'keyhook pot boil-over p1 --degrees 100')
})

await t.test('it is described, with its errors and its example', (t) => {
  const document: unknown = JSON.parse(pages['/v1/openapi.json']?.body ?? '')
  t.match(document, {
    paths: {
      '/v1/pots/{pot_id}/boil-over': {
        post: {
          operationId: 'pots.boil_over',
          tags: ['pots'],
          security: [{ developerKey: ['pots:write'] }, { session: [] }, { operator: [] }],
          requestBody: { content: { 'application/json': { example: { degrees: 100 } } } },
          responses: { 202: {}, 409: { description: /pot_cracked/ } },
        },
      },
    },
  })
  t.match(apiMarkdown([potsFamily]), '| `POST /v1/pots/{pot_id}/boil-over` | `pots:write` |')
  t.end()
})

await t.test('it is on the page of the reference, to be read and copied', (t) => {
  const page = pages['/docs']?.body ?? ''
  const [, article = ''] = /<article id="pots\.boil_over">([\s\S]*?)<\/article>/.exec(page) ?? []
  for (const part of [
    'Boil a pot over',
    '<code>/v1/pots/{pot_id}/boil-over</code>',
    'a key with <code>pots:write</code>',
    'client.pots.boilOver',
    'As hot as this.',
    'up to 120',
    '<code>on</code> or <code>off</code>',
    '/v1/pots/$POT_ID/boil-over',
    '-d &#39;{&quot;degrees&quot;:100}&#39;',
    'href="docs/errors#pot_cracked"',
  ]) {
    t.ok(article.includes(part), part)
  }
  t.ok(page.includes('<a href="#pots.boil_over">Boil a pot over</a>'), 'in the index')
  const errors = pages['/docs/errors']?.body ?? ''
  t.ok(errors.includes('<article id="pot_cracked">'))
  t.ok(errors.includes('The pot has &lt;cracked&gt;.'), 'what is text stays text')
  t.end()
})

await t.test('the pages load their own style and script, and nothing else', (t) => {
  for (const [path, { type, body, policy }] of Object.entries(pages)) {
    if (!type.startsWith('text/html')) continue
    t.match(policy, /^default-src 'none'; style-src 'self'; script-src 'self';/, path)
    t.notMatch(policy, /unsafe/, path)
    t.notMatch(body, /<script(?![^>]* src="docs\/reference\.js")/, `${path}: inline script`)
    t.notMatch(body, /<style|\sstyle="|\son\w+="|javascript:/, `${path}: inline style or handler`)
    const loaded = Array.from(body.matchAll(/(?:<link[^>]*href|src)="([^"]*)"/g), ([, to]) => to)
    for (const to of loaded) {
      const found = new URL(to ?? '', `http://service.example${path}`)
      t.ok(found.pathname in pages, `${path} loads ${found.href}`)
    }
    t.ok(loaded.length > 0, path)
  }
  t.end()
})

await t.test('every link of the reference leads somewhere', (t) => {
  const targets = new Map(
    Object.entries(pages).map(([path, { body }]) => [
      path,
      new Set(Array.from(body.matchAll(/\sid="([^"]+)"/g), ([, id]) => id)),
    ]),
  )
  for (const path of ['/docs', '/docs/errors']) {
    const links = Array.from((pages[path]?.body ?? '').matchAll(/<a[^>]*href="([^"]+)"/g))
    t.ok(links.length > 10, path)
    const dead = links.filter(([, to = '']) => {
      const { pathname, hash } = new URL(to, `http://service.example${path}`)
      const ids = targets.get(pathname)
      return ids === undefined || (hash !== '' && !ids.has(hash.slice(1)))
    })
    t.same(
      dead.map(([, to]) => to),
      [],
      path,
    )
  }
  t.end()
})

await t.test('the reference is served, and its files beside it', async (t) => {
  const app = new Koa<RequestState>().use(documents(pages))
  const server = createServer((request, response) => void app.callback()(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const [path, { type, body }] of Object.entries(pages)) {
    const answer = await fetch(base + path)
    t.equal(answer.status, 200, path)
    t.equal(answer.headers.get('content-type'), type, path)
    t.ok((await answer.text()) === body, path)
  }
})
