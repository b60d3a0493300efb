import { z } from 'zod'
import type { Family } from '../../../daemon/operations/family.ts'
import { operation } from '../../../daemon/operations/operation.ts'
import { MAX_DEPTH } from '../../../lib/grant/delegate.ts'
import { SPEC_SCOPES } from '../../../lib/scope/syntax.ts'
import type { Page } from '../../support/webhooks.ts'
import type { Check, Checks } from '../run.ts'
import type { KeyWorld } from './world.ts'
import { openWorld } from './world.ts'

/** A family that a later release might bring. */
const zebras: Family = {
  name: 'zebras',
  scopes: { zebra: ['read', 'write'] },
  events: [],
  errors: { rows: {} },
  operations: [
    operation({
      effect: 'read',
      id: 'zebras.count',
      summary: 'Count the zebras',
      method: 'GET',
      path: '/v1/zebras',
      access: { scope: 'zebra:read', pinned: 'allowed' },
      agent: { toolset: 'zebras' },
      emits: ['zebra'],
      input: {},
      output: z.strictObject({ count: z.int() }),
      errors: [],
      example: { response: { count: 0 } },
      run: () => Promise.resolve({ count: 0 }),
    }),
  ],
}

const EVERY_FAMILY = Object.keys(SPEC_SCOPES).map((family) => `${family}:*`)
const BEYOND = '403 scope_not_delegable'

type Asked = readonly [holds: readonly string[], asks: readonly string[], answer: string]

/** Each parent, what it asks to give, and the answer. */
function asking(...rows: readonly Asked[]): Check {
  return async (t, saw) => {
    const world = await openWorld(t, saw)
    for (const [holds, asks, answer] of rows) {
      const { key } = await world.make({ scopes: holds })
      const title = `${holds.join(' ')} gives ${asks.join(' ')}`
      t.equal(await world.mint(key, { scopes: asks }), answer, title)
    }
  }
}

async function keysOf({ request }: KeyWorld): Promise<number> {
  return (await request<Page<unknown>>('GET', '/v1/keys?limit=100')).body.data.length
}

/** Sends a body that no JSON printer writes. */
async function mintRaw({ baseUrl }: KeyWorld, key: string, body: string): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return fetch(`${baseUrl}/v1/keys`, { method: 'POST', headers, body })
}

export const SCOPE_CHECKS: Checks = {
  async K01(t, saw) {
    const world = await openWorld(t, saw)
    const wrong = [
      ['apps', 'apps:', ':read', ':', '*', '', 'apps:read:x', 'Apps:read', 'APPS:READ'],
      [' apps:read', 'apps:read ', 'apps:read\n', 'apps :read', 'apps,read', 'ap*:read', 'apps:**'],
      ['аpps:read', 'ａｐｐｓ:read', '__proto__:read', 'constructor:*', '*:write', '**:read'],
    ].flat()
    for (const scope of wrong) {
      const body = { name: 'a key', scopes: ['apps:read', scope] }
      const refused = await world.attempt('POST', '/v1/keys', { body })
      t.match(refused.body, {
        error: { code: 'invalid_scope', errors: [{ location: 'body.scopes[1]' }] },
      })
    }
    for (const scope of [null, 7, true, {}, ['apps:read'], 'a'.repeat(81)]) {
      const answer = await world.mint(world.user, { scopes: ['apps:read', scope] })
      t.equal(answer, '400 invalid_request', JSON.stringify(scope))
    }
    t.equal(await keysOf(world), 0)
  },

  async K02(t, saw) {
    const world = await openWorld(t, saw)
    const { key } = await world.make({ scopes: ['*:*'] })
    for (const as of [world.user, world.operator, key]) {
      for (const scope of ['zebra:read', 'zebra:*']) {
        t.equal(await world.mint(as, { scopes: [scope] }), '400 invalid_scope')
      }
    }
    const later = await openWorld(t, saw, { families: [zebras] })
    t.equal(await later.mint(later.user, { scopes: ['zebra:read'] }), '201')
  },

  async K03(t, saw) {
    const world = await openWorld(t, saw)
    const { key } = await world.make({ scopes: ['apps:*', 'keys:write'] })
    const twice = (first: string, last: string): Promise<Response> =>
      mintRaw(world, key, `{"name":"a","scopes":["${first}"],"scopes":["${last}"]}`)
    const wide = await twice('apps:read', '*:*')
    t.match(await wide.json(), { error: { code: 'scope_not_delegable' } })
    saw(`${wide.status} scope_not_delegable`)
    const narrow = await twice('*:*', 'apps:read')
    const made = (await narrow.json()) as { id: string }
    saw(String(narrow.status))
    t.match(made, { scopes: ['apps:read'] })
    const kept = await world.platform.store.keys.get(world.account.id, made.id)
    t.same(kept?.scopes, ['apps:read'])
  },

  async K04(t, saw) {
    const world = await openWorld(t, saw)
    const many = (count: number): string[] => Array.from({ length: count }, () => 'apps:read')
    const apps = Array.from({ length: 101 }, (_, at) => `a${at}`)
    const tooMuch = [{ scopes: many(65) }, { scopes: many(200) }, { scopes: ['apps:read'], apps }]
    for (const given of tooMuch) {
      t.equal(await world.mint(world.user, given), '400 invalid_request')
    }
    const body = { name: 'a key', scopes: many(64) }
    const made = await world.attempt('POST', '/v1/keys', { body })
    t.match(made, { status: 201, body: { scopes: ['apps:read'] } })
    t.equal(await keysOf(world), 1)
  },

  K05: asking([['apps:*', 'keys:write'], ['*:read'], BEYOND]),

  K06: asking(
    [['*:read', 'keys:write'], ['apps:*'], BEYOND],
    [['*:read', 'keys:write'], ['apps:read'], '201'],
  ),

  K07: asking(
    [['*:read', 'keys:write'], ['*:*'], BEYOND],
    [['*:read', 'keys:write'], ['apps:write'], BEYOND],
  ),

  K08: asking([EVERY_FAMILY, ['*:*'], BEYOND], [EVERY_FAMILY, ['*:read'], BEYOND]),

  K09: asking(
    [['apps:read', 'keys:write'], ['apps:*'], BEYOND],
    [['apps:read', 'apps:write', 'keys:write'], ['apps:*'], BEYOND],
  ),

  async K10(t, saw) {
    const world = await openWorld(t, saw)
    const { key } = await world.make({ scopes: ['*:*'] })
    const body = { name: 'a key', scopes: ['*:*', 'apps:read'] }
    const made = await world.attempt('POST', '/v1/keys', { as: key, body })
    t.same(made.body['scopes'], ['*:*'])
  },

  async K11(t, saw) {
    const world = await openWorld(t, saw)
    const { key } = await world.make({ scopes: ['apps:read', 'keys:write'] })
    for (const as of [key, world.user]) {
      for (const scopes of [undefined, null, [], '', {}, [null]]) {
        t.equal(await world.mint(as, { scopes }), '400 invalid_request', JSON.stringify(scopes))
      }
    }
    t.equal(await keysOf(world), 1)
  },

  async K12(t, saw) {
    const world = await openWorld(t, saw)
    const { id, key } = await world.make({ scopes: ['*:*'] })
    for (const as of [world.user, world.operator, key]) {
      t.equal(await world.mint(as, { scopes: ['*:write'] }), '400 invalid_scope')
    }
    const narrowing = { scopes: ['*:write'] }
    t.equal(await world.ask('PATCH', `/v1/keys/${id}`, key, narrowing), '400 invalid_scope')
  },

  K13: asking(
    [['keys:read'], ['keys:read'], '403 insufficient_scope'],
    [['*:read'], ['apps:read'], '403 insufficient_scope'],
    [['apps:*'], ['apps:read'], '403 insufficient_scope'],
  ),

  K14: asking(
    [['keys:write'], ['keys:write'], '201'],
    [['keys:write'], ['keys:read'], BEYOND],
    [['keys:write'], ['keys:*'], BEYOND],
  ),

  async K15(t, saw) {
    const world = await openWorld(t, saw)
    const scopes = ['keys:write']
    let { key } = await world.make({ scopes })
    for (let depth = 1; depth <= MAX_DEPTH; depth += 1)
      key = (await world.make({ scopes }, key)).key
    t.equal(await world.mint(key, { scopes }), '403 delegation_too_deep')

    const { key: eager } = await world.make({ scopes })
    const held = await keysOf(world)
    for (let live = held; live < 100; live += 1) await world.make({ scopes }, eager)
    t.equal(await world.mint(eager, { scopes }), '409 key_limit_reached')
    t.equal(await world.mint(world.user, { scopes }), '409 key_limit_reached')
  },

  async K16(t, saw) {
    const folder = t.testdir()
    const place = { testdir: () => folder, teardown: t.teardown.bind(t) }
    const before = await openWorld(place, saw)
    const open = await before.make({ scopes: ['*:read'] })
    const listed = await before.make({ scopes: EVERY_FAMILY })
    t.equal(await before.ask('GET', '/v1/zebras', open.key), '404 route_not_found')
    const later = await openWorld(place, saw, { families: [zebras] })
    t.equal(await later.ask('GET', '/v1/zebras', open.key), '200')
    t.equal(await later.ask('GET', '/v1/zebras', listed.key), '403 insufficient_scope')
  },
}
