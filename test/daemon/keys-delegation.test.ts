import t from 'tap'
import { MAX_DEPTH } from '../../lib/grant/delegate.ts'
import { SPEC_SCOPES } from '../../lib/scope/syntax.ts'
import { HOUR, MINUTE, toIso } from '../../lib/time.ts'
import { START, keysWorld, mint, standing, told } from '../support/keys-world.ts'
import type { Page } from '../support/webhooks.ts'
import type { Asker, MintedKey } from '../support/world.ts'

const BEYOND = '403 scope_not_delegable'

await t.test('a key gives what it holds and nothing beyond', async (t) => {
  const world = await keysWorld(t)
  const everyFamily = Object.keys(SPEC_SCOPES).map((family) => `${family}:*`)
  const rows: readonly (readonly [string, readonly string[], readonly string[], string])[] = [
    ['case 5', ['apps:*', 'keys:write'], ['*:read'], BEYOND],
    ['case 6', ['*:read', 'keys:write'], ['apps:*'], BEYOND],
    ['case 6', ['*:read', 'keys:write'], ['apps:read'], '201'],
    ['case 7', ['*:read', 'keys:write'], ['*:*'], BEYOND],
    ['case 7', ['*:read', 'keys:write'], ['apps:write'], BEYOND],
    ['case 8', everyFamily, ['*:*'], BEYOND],
    ['case 8', everyFamily, ['*:read'], BEYOND],
    ['case 8', everyFamily, everyFamily, '201'],
    ['case 9', ['apps:read', 'keys:write'], ['apps:*'], BEYOND],
    ['case 9', ['apps:read', 'apps:write', 'keys:write'], ['apps:*'], BEYOND],
    ['case 10', ['*:*'], ['*:*', 'apps:read'], '201'],
    ['case 13', ['keys:read'], ['keys:read'], '403 insufficient_scope'],
    ['case 13', ['*:read'], ['apps:read'], '403 insufficient_scope'],
    ['case 14', ['keys:write'], ['keys:write'], '201'],
    ['case 14', ['keys:write'], ['keys:read'], BEYOND],
    ['case 12 has no form here', ['*:*'], ['*:write'], '400 invalid_scope'],
    ['case 2', ['*:*'], ['zebra:read'], '400 invalid_scope'],
    ['one of many', ['apps:*', 'keys:write'], ['apps:read', 'files:read'], BEYOND],
  ]
  for (const [title, holds, asks, expected] of rows) {
    const parent = await world.mintKey({ scopes: holds })
    const answer = await mint(world, parent.key, { scopes: asks })
    const name = `${title}: ${holds.join(' ')} gives ${asks.join(' ')}`
    t.equal(told(answer), expected, name)
    if (expected !== '201') continue
    t.match(answer.body, {
      parent_key_id: parent.id,
      created_by: { type: 'key', id: parent.id },
    })
    const kept = asks.includes('*:*') ? ['*:*'] : [...asks].sort()
    t.same(answer.body['scopes'], kept, `${name}, in canonical form`)
  }
  const parent = await world.mintKey({ scopes: ['apps:*', 'keys:write'], apps: ['a1'] })
  const refused = await mint(world, parent.key, {
    scopes: ['apps:read', '*:read', 'files:write'],
    apps: ['a1', 'a2'],
  })
  t.match(refused.body, {
    error: {
      details: {
        uncovered_scopes: ['*:read', 'files:write'],
        uncovered_apps: ['a2'],
        expires_at_beyond: false,
      },
    },
  })
})

await t.test('case 11: no scopes never mean all scopes, nor no apps all apps', async (t) => {
  const world = await keysWorld(t)
  const { key } = await world.mintKey({ scopes: ['apps:read', 'keys:write'], apps: ['a1'] })
  for (const as of [key, world.user]) {
    for (const scopes of [undefined, null, [], '', {}, [''], [null], [['apps:read']], ['*']]) {
      const { status } = await mint(world, as, { scopes })
      t.equal(status, 400, `scopes ${JSON.stringify(scopes)}`)
    }
    for (const apps of [null, [], '', 'a1', [''], [null], ['*'], ['a 1'], ['a'.repeat(65)]]) {
      const refused = await mint(world, as, { scopes: ['apps:read'], apps })
      t.equal(told(refused), '400 invalid_request', `case 18: apps ${JSON.stringify(apps)}`)
    }
  }
  const many = Array.from({ length: 101 }, (_, index) => `a${index}`)
  const pinned = await mint(world, world.user, { scopes: ['apps:read'], apps: many })
  t.equal(told(pinned), '400 invalid_request', 'case 4')
  const repeated = Array.from({ length: 65 }, () => 'apps:read')
  const scoped = await mint(world, world.user, { scopes: repeated })
  t.equal(told(scoped), '400 invalid_request', 'case 4')
  const most = await mint(world, world.user, { scopes: repeated.slice(1) })
  t.same(most.body['scopes'], ['apps:read'])
})

await t.test('pins are inherited, and never widened', async (t) => {
  const world = await keysWorld(t)
  const { key } = await world.mintKey({ scopes: ['*:*'], apps: ['a1'] })
  const inherited = await mint(world, key, { scopes: ['apps:read'] })
  t.same(inherited.body['apps'], ['a1'], 'case 17')
  const repeated = await mint(world, key, { scopes: ['apps:read'], apps: ['a1', 'a1'] })
  t.same(repeated.body['apps'], ['a1'], 'case 18')
  const wider = await mint(world, key, { scopes: ['apps:read'], apps: ['a1', 'a2'] })
  t.equal(told(wider), BEYOND, 'case 18')
  const other = await mint(world, key, { scopes: ['apps:read'], apps: ['a2'] })
  t.equal(told(other), BEYOND)

  const free = await world.mintKey({ scopes: ['*:*'] })
  const pinned = await mint(world, free.key, { scopes: ['*:*'], apps: ['a1', 'a2'] })
  const below = await mint(world, pinned.body.key, { scopes: ['apps:read'], apps: ['a2'] })
  t.same(below.body['apps'], ['a2'])
  const self = await world.request('GET', '/v1/keys/self', { as: below.body.key })
  t.match(self.body, { effective_apps: ['a2'] })
})

await t.test('a pinned key sees and changes only keys within its pins', async (t) => {
  const world = await keysWorld(t)
  const make = async (apps?: readonly string[]): Promise<string> =>
    (await world.mintKey({ scopes: ['apps:read'], ...(apps && { apps }) })).id
  const inside = [await make(['a1']), await make(['a2']), await make(['a1', 'a2'])]
  const outside = [await make(['a3']), await make(['a1', 'a3']), await make()]
  const pinned = await world.mintKey({ scopes: ['*:*'], apps: ['a1', 'a2'] })
  const as = pinned.key
  const list = await world.request<Page<MintedKey>>('GET', '/v1/keys', { as })
  t.same(list.body.data.map(({ id }) => id).sort(), [...inside, pinned.id].sort(), 'case 19')
  for (const id of outside) {
    const answers = await Promise.all([
      world.request('GET', `/v1/keys/${id}`, { as }),
      world.request('PATCH', `/v1/keys/${id}`, { as, body: { name: 'b' } }),
      world.request('POST', `/v1/keys/${id}/rotate`, { as }),
      world.request('DELETE', `/v1/keys/${id}/previous`, { as }),
      world.request('DELETE', `/v1/keys/${id}`, { as }),
    ])
    t.same(answers.map(told), Array<string>(5).fill('404 key_not_found'), 'case 22')
  }
  for (const id of inside) {
    t.equal(told(await world.request('GET', `/v1/keys/${id}`, { as })), '200')
    t.equal(told(await world.request('DELETE', `/v1/keys/${id}`, { as })), '200')
  }
  const types = await world.request('GET', '/v1/event-types', { as })
  t.equal(told(types), '403 key_pinned', 'case 19')
})

await t.test('delegation is at most 8 deep', async (t) => {
  const world = await keysWorld(t)
  let { key } = await world.mintKey({ scopes: ['keys:write'] })
  const line = [key]
  for (let depth = 1; depth <= MAX_DEPTH; depth += 1) {
    const child = await mint(world, key, { scopes: ['keys:write'] })
    t.equal(told(child), '201', `depth ${depth}`)
    key = child.body.key
    line.push(key)
  }
  const deeper = await mint(world, key, { scopes: ['keys:write'] })
  t.equal(told(deeper), '403 delegation_too_deep', 'case 15')
  t.equal(line.length, 9)
  const byUser = await mint(world, world.user, { scopes: ['*:*'] })
  t.match(byUser.body, { parent_key_id: null }, 'what a user creates is a root')
})

await t.test('a child lives no longer than its parent', async (t) => {
  const world = await keysWorld(t)
  const at = (ms: number): string => toIso(START + ms)
  const scopes = ['apps:read', 'keys:*']
  const root = await mint(world, world.user, { scopes, expires_at: at(2 * HOUR) })
  const { id, key } = root.body
  for (const expires_at of [at(2 * HOUR + 1), null]) {
    const refused = await mint(world, key, { scopes, expires_at })
    t.equal(told(refused), BEYOND, `case 24: ${expires_at}`)
    t.match(refused.body, { error: { details: { expires_at_beyond: true } } })
  }
  const inheriting = await mint(world, key, { scopes })
  t.match(inheriting.body, { expires_at: at(2 * HOUR) }, 'case 24: a missing one is the parent’s')
  const child = inheriting.body
  t.equal(told(await mint(world, key, { scopes, expires_at: at(2 * HOUR) })), '201')

  const patch = (target: string, expires_at: string | null, as: Asker = world.user) =>
    world.request('PATCH', `/v1/keys/${target}`, { as, body: { expires_at } }).then(told)
  t.equal(await standing(world, child.key), '200')
  t.equal(await patch(id, at(MINUTE)), '200')
  t.equal(await patch(child.id, at(MINUTE + 1), key), '200', 'shortening another’s')
  t.equal(await patch(child.id, at(2 * HOUR), key), BEYOND, 'extending beyond one’s own')
  const self = await world.request('GET', '/v1/keys/self', { as: child.key })
  t.match(self.body, { expires_at: at(MINUTE + 1), effective_expires_at: at(MINUTE) })
  await world.clock.advance(MINUTE - 1)
  t.equal(await standing(world, child.key), '200')
  t.equal(await patch(id, at(HOUR)), '200')
  await world.clock.advance(1)
  t.equal(await standing(world, child.key), '200', 'the parent was extended in time')
  await world.clock.advance(1)
  t.equal(await standing(world, child.key), '401 key_expired', 'case 26: it keeps its own expiry')
  t.equal(await standing(world, key), '200')
  await world.clock.advance(HOUR - MINUTE - 1)
  t.equal(await standing(world, key), '401 key_expired')

  const late = await mint(world, world.user, { scopes })
  const heir = await mint(world, late.body.key, { scopes })
  t.equal(await standing(world, heir.body.key), '200')
  t.equal(await patch(late.body.id, at(HOUR + MINUTE)), '200')
  await world.clock.advance(MINUTE)
  t.equal(await standing(world, heir.body.key), '401 key_expired', 'case 25: without a write')
})
