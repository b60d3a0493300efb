import t from 'tap'
import { auditFamily } from '../../daemon/families/audit/family.ts'
import { parseBlocks } from '../../daemon/config/values.ts'
import { codeOf } from '../support/answer.ts'
import type { Page } from '../support/webhooks.ts'
import { receiverFor, register, shopWorld } from '../support/webhooks.ts'
import type { Answer, AnyBody, Asker, World } from '../support/world.ts'

interface Entry extends AnyBody {
  readonly id: string
  readonly action: string
  readonly ip: string | null
}

const open = (t: Parameters<typeof shopWorld>[0], trusted = ''): Promise<World> =>
  shopWorld(t, { families: [auditFamily], trustedProxies: parseBlocks(trusted) })

const list = (world: World, query = '', as: Asker = world.user): Promise<Answer<Page<Entry>>> =>
  world.request('GET', `/v1/audit-log${query}`, { as })

const actionsOf = ({ body }: Answer<Page<Entry>>): readonly string[] =>
  body.data.map(({ action }) => action)

await t.test('every change says who made it, newest first', async (t) => {
  const world = await open(t)
  const minted = await world.mintKey({ scopes: ['keys:*', 'webhooks:*'] })
  const below = await world.mintKey({ scopes: ['webhooks:*'] }, minted.key)
  const { url } = await receiverFor(t)
  const webhook = await register(world, { url }, below.key)
  const revoked = await world.request('DELETE', `/v1/keys/${minted.id}`, { as: world.operator })
  const user = { type: 'user', id: world.user.user_id }
  const { body } = await list(world)
  t.match(body, { has_more: false, next_cursor: null })
  const entry = (action: string, actor: AnyBody, target: AnyBody): AnyBody => ({
    action,
    actor,
    target,
    app_id: null,
    ip: '127.0.0.1',
    at: /Z$/,
    request_id: /^req_/,
  })
  t.match(body.data, [
    entry('key.revoked', { type: 'operator', id: null }, { type: 'key', id: minted.id }),
    entry('webhook.created', { type: 'key', id: below.id }, { type: 'webhook', id: webhook.id }),
    entry('key.created', { type: 'key', id: minted.id }, { type: 'key', id: below.id }),
    entry('key.created', user, { type: 'key', id: minted.id }),
  ])
  t.equal(body.data.length, 4)
  t.equal(body.data[0]?.['request_id'], revoked.headers.get('x-request-id'))
})

await t.test('what is refused, or changes nothing, is not noted', async (t) => {
  const world = await open(t)
  const { id, key } = await world.mintKey({ scopes: ['keys:*'] })
  await world.request('POST', '/v1/keys', { as: key, body: { name: 'x', scopes: ['*:*'] } })
  await world.request('DELETE', `/v1/keys/${id}`)
  await world.request('DELETE', `/v1/keys/${id}`)
  const asking = { body: { name: 'x', scopes: ['keys:*'] }, headers: { 'idempotency-key': 'one' } }
  await world.request('POST', '/v1/keys', asking)
  await world.request('POST', '/v1/keys', asking)
  t.same(actionsOf(await list(world)), ['key.created', 'key.revoked', 'key.created'])
})

await t.test('it is filtered by action, actor and target, and read page by page', async (t) => {
  const world = await open(t)
  const minted = await world.mintKey({ scopes: ['keys:*'] })
  const below = await world.mintKey({ scopes: ['keys:read'] }, minted.key)
  await world.request('PATCH', `/v1/keys/${below.id}`, { body: { name: 'renamed' } })
  await world.request('DELETE', `/v1/keys/${below.id}`)
  const found = async (query: string): Promise<readonly string[]> =>
    actionsOf(await list(world, query))
  const all = ['key.revoked', 'key.updated', 'key.created', 'key.created']
  t.same(await found(''), all)
  t.same(await found('?action=key.created'), ['key.created', 'key.created'])
  t.same(await found(`?actor_id=${minted.id}`), ['key.created'])
  t.same(await found(`?target_id=${below.id}`), ['key.revoked', 'key.updated', 'key.created'])
  t.same(await found(`?target_id=${below.id}&action=key.revoked`), ['key.revoked'])
  t.same(await found('?action=nothing'), [])

  const pages: string[] = []
  let query = '?limit=3'
  for (let more = true; more;) {
    const page = await list(world, query)
    pages.push(...actionsOf(page))
    query = `?limit=3&cursor=${page.body.next_cursor}`
    more = page.body.has_more
  }
  t.same(pages, all)
  const { next_cursor } = (await list(world, '?limit=1')).body
  const stolen = `?cursor=${next_cursor}&action=key.created`
  t.equal(codeOf(await list(world, stolen)), '400 invalid_cursor')
  for (const bad of ['?limit=0', '?action=', '?who=me', `?actor_id=${'x'.repeat(101)}`]) {
    t.equal(codeOf(await list(world, bad)), '400 invalid_request', bad)
  }
})

await t.test('it is for owners and the operator, of one account each', async (t) => {
  const world = await open(t)
  const { key } = await world.mintKey({ scopes: ['*:*'] })
  const other = await world.addAccount()
  t.equal(codeOf(await list(world, '', key)), '403 owner_required')
  t.equal(codeOf(await list(world, '', null)), '401 missing_credentials')
  t.equal(codeOf(await list(world, '', world.operatorFor(null))), '400 account_required')
  t.same(actionsOf(await list(world, '', world.operator)), ['key.created'])
  t.same(actionsOf(await list(world, '', world.operatorFor(other))), [])
  t.same(actionsOf(await list(world, '', world.userOf(other))), [])
})

/** Chains of `X-Forwarded-For` from a trusted peer, and whose address they prove. */
const CHAINS: readonly (readonly [chain: string, address: string])[] = [
  ['203.0.113.7', '203.0.113.7'],
  ['198.51.100.1, 203.0.113.7', '203.0.113.7'],
  ['127.0.0.1, 203.0.113.7', '203.0.113.7'],
  ['203.0.113.7,10.0.0.2', '203.0.113.7'],
  ['198.51.100.1, 203.0.113.7, 10.0.0.2, 10.0.0.1', '203.0.113.7'],
  ['10.0.0.9, 10.0.0.8', '10.0.0.9'],
  ['10.0.0.9, 203.0.113.7, 10.0.0.8', '203.0.113.7'],
  ['::ffff:10.0.0.2', '10.0.0.2'],
  ['203.0.113.7, ::ffff:10.0.0.2', '203.0.113.7'],
  ['2001:db8::7', '2001:db8::7'],
  ['2001:db8::7, fd00::1', '2001:db8::7'],
  ['', '127.0.0.1'],
  [',', '127.0.0.1'],
  ['203.0.113.7,', '127.0.0.1'],
  ['203.0.113.7, , 10.0.0.1', '10.0.0.1'],
  ['unknown', '127.0.0.1'],
  ['203.0.113.7, unknown, 10.0.0.1', '10.0.0.1'],
  ['10.0.0.1.example.com', '127.0.0.1'],
  ['203.0.113.7:4711', '127.0.0.1'],
  ['<script>, 10.0.0.1', '10.0.0.1'],
]

async function addressOf(world: World, chain: string): Promise<string | null | undefined> {
  const body = { name: 'a key', scopes: ['keys:read'] }
  const headers = { 'x-forwarded-for': chain, 'x-real-ip': '192.0.2.1', forwarded: 'for=192.0.2.1' }
  const made = await world.request('POST', '/v1/keys', { body, headers })
  await world.request('DELETE', `/v1/keys/${String(made.body['id'])}`)
  return (await list(world, '?action=key.created&limit=1')).body.data[0]?.ip
}

await t.test('a proxy is believed as far as every hop behind it is trusted', async (t) => {
  const trusting = await open(t, '127.0.0.0/8, 10.0.0.0/8, fd00::/8')
  for (const [chain, address] of CHAINS) t.equal(await addressOf(trusting, chain), address, chain)
})

await t.test('without a trusted proxy nothing that the caller writes counts', async (t) => {
  for (const trusted of ['', '10.0.0.0/8', '127.0.0.2']) {
    await t.test(`trusting "${trusted}"`, async (t) => {
      const world = await open(t, trusted)
      for (const [chain] of CHAINS) t.equal(await addressOf(world, chain), '127.0.0.1', chain)
    })
  }
})
