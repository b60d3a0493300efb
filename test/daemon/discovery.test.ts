import t from 'tap'
import { discoveryFamily } from '../../daemon/families/discovery/family.ts'
import { MAX_EVENT_BYTES } from '../../lib/webhook/event.ts'
import { shopWorld } from '../support/webhooks.ts'
import type { Answer, AnyBody, Asker, World } from '../support/world.ts'

interface Listed extends AnyBody {
  readonly scope: string | null
}

interface Tool {
  readonly name: string
  readonly operation: string
  readonly allowed: boolean
}

interface Discovery extends AnyBody {
  readonly tools: readonly Tool[]
  readonly families: readonly { readonly name: string; readonly operations: readonly Listed[] }[]
  readonly scopes: readonly string[]
}

const open = (t: Parameters<typeof shopWorld>[0]): Promise<World> =>
  shopWorld(t, { families: [discoveryFamily] })

const discover = (world: World, as: Asker = world.user): Promise<Answer<Discovery>> =>
  world.request('GET', '/v1/discovery', { as })

await t.test('discovery shows what the service offers, and where', async (t) => {
  const world = await open(t)
  const { status, body } = await discover(world)
  t.equal(status, 200)
  const { families, scopes, version, tools, ...rest } = body
  t.match(version, /^\d+\.\d+\.\d+/)
  t.same(rest, {
    service: 'service',
    api_version: 'v1',
    toolsets: ['keys', 'webhooks', 'discovery'],
    skills: [],
    your_scopes: ['*:*'],
    your_apps: null,
    event_types: ['app.deployed', 'webhook.disabled', 'webhook.failing', 'webhook.test'],
    models: [],
    limits: { event_bytes: MAX_EVENT_BYTES, events_per_request: 500, page: 100 },
    interfaces: {
      rest: `${world.baseUrl}/v1`,
      openapi: `${world.baseUrl}/v1/openapi.json`,
      docs: `${world.baseUrl}/docs`,
      mcp: `${world.baseUrl}/mcp`,
      a2a: `${world.baseUrl}/a2a`,
      agent_card: `${world.baseUrl}/.well-known/agent-card.json`,
    },
  })
  t.same(
    families.map(({ name }) => name),
    ['keys', 'webhooks', 'shop', 'discovery'],
  )
  t.ok(scopes.includes('discovery:read') && scopes.includes('webhooks:write'))
  t.same(scopes, scopes.toSorted())
  const known = families.flatMap(({ operations }) => operations)
  t.ok(
    known.every(({ scope }) => scope === null || scopes.includes(scope)),
    'no operation needs a scope that is not listed',
  )
  t.hasStrict(
    known.find(({ id }) => id === 'webhooks.rotate_secret'),
    {
      id: 'webhooks.rotate_secret',
      method: 'POST',
      path: '/v1/webhooks/{webhook_id}/rotate-secret',
      scope: 'webhooks:write',
      tool: 'webhooks_rotate_secret',
    },
  )
  t.match(
    known.find(({ id }) => id === 'keys.verify'),
    { scope: 'keys:read', tool: null },
  )
  t.same(
    tools.map(({ operation }) => operation),
    known.filter(({ tool }) => tool !== null).map(({ id }) => id),
  )
  t.match(
    tools.find(({ name }) => name === 'discovery_show'),
    { toolset: 'discovery', default: true, skill: null },
  )
})

await t.test('a key is told which tools it may call', async (t) => {
  const world = await open(t)
  const { key } = await world.mintKey({ scopes: ['discovery:read', 'webhooks:read'] })
  const allowed = (await discover(world, key)).body.tools.filter((tool) => tool.allowed)
  t.same(
    allowed.map(({ name }) => name),
    [
      'keys_self',
      // A key may always rotate and revoke itself.
      'keys_rotate',
      'keys_end_previous',
      'keys_revoke',
      'webhooks_list',
      'webhooks_get',
      'webhooks_list_deliveries',
      'webhooks_get_delivery',
      'discovery_show',
      'discovery_services',
      'discovery_agent_card',
    ],
  )
})

await t.test('a key is told what it may do right now, narrowed by those above it', async (t) => {
  const world = await open(t)
  const parent = await world.mintKey({ scopes: ['discovery:read', 'keys:*', 'edits:*'] })
  const child = await world.mintKey({ scopes: ['discovery:read', 'edits:*'] }, parent.key)
  t.match((await discover(world, child.key)).body, { your_scopes: ['discovery:read', 'edits:*'] })
  const narrowed = { scopes: ['discovery:read', 'edits:read'] }
  await world.request('PATCH', `/v1/keys/${parent.id}`, { body: narrowed })
  t.same((await discover(world, child.key)).body['your_scopes'], ['discovery:read', 'edits:read'])
})

await t.test(
  'a pinned key may ask and is told its pins; a key without the scope may not',
  async (t) => {
    const world = await open(t)
    const pinned = await world.mintKey({ scopes: ['discovery:read'], apps: ['b', 'a'] })
    t.same((await discover(world, pinned.key)).body['your_apps'], ['a', 'b'])
    const without = await world.mintKey({ scopes: ['keys:read'] })
    t.match(await discover(world, without.key), {
      status: 403,
      body: {
        error: { code: 'insufficient_scope', details: { missing_scopes: ['discovery:read'] } },
      },
    })
    t.equal((await discover(world, null)).status, 401)
  },
)
