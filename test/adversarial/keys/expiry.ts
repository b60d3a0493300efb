import { HOUR, MINUTE, SECOND } from '../../../lib/time.ts'
import type { Asker } from '../../support/world.ts'
import type { Checks } from '../run.ts'
import type { KeyWorld, Minted } from './world.ts'
import { openWorld, START } from './world.ts'

const BEYOND = '403 scope_not_delegable'
const scopes = ['apps:read', 'keys:*']

function setExpiry(
  world: KeyWorld,
  { id }: Minted,
  expires_at: unknown,
  as: Asker = world.user,
): Promise<string> {
  return world.ask('PATCH', `/v1/keys/${id}`, as, { expires_at })
}

export const EXPIRY_CHECKS: Checks = {
  async K24(t, saw) {
    const world = await openWorld(t, saw)
    const parent = await world.make({ scopes, expires_at: world.at(HOUR) })
    for (const expires_at of [world.at(HOUR + 1), world.at(24 * HOUR), null]) {
      t.equal(await world.mint(parent.key, { scopes, expires_at }), BEYOND, String(expires_at))
    }
    t.equal((await world.make({ scopes }, parent.key))['expires_at'], world.at(HOUR))
    t.equal(await world.mint(parent.key, { scopes, expires_at: world.at(HOUR) }), '201')
  },

  async K25(t, saw) {
    const world = await openWorld(t, saw)
    const parent = await world.make({ scopes })
    const child = await world.make({ scopes }, parent.key)
    const grandchild = await world.make({ scopes }, child.key)
    t.equal(await world.standing(grandchild.key), '200')
    t.equal(await setExpiry(world, parent, world.at(MINUTE)), '200')
    await world.clock.advance(MINUTE - 1)
    t.equal(await world.standing(grandchild.key), '200')
    await world.clock.advance(1)
    for (const { id, key } of [parent, child, grandchild]) {
      t.equal(await world.standing(key), '401 key_expired')
      const kept = await world.platform.store.keys.get(world.account.id, id)
      t.equal(
        kept?.expires_at,
        id === parent.id ? START + MINUTE : null,
        'nothing was written below',
      )
    }
  },

  async K26(t, saw) {
    const world = await openWorld(t, saw)
    const parent = await world.make({ scopes, expires_at: world.at(HOUR) })
    const child = await world.make({ scopes }, parent.key)
    t.equal(await setExpiry(world, parent, world.at(2 * HOUR)), '200')
    await world.clock.advance(HOUR)
    t.equal(await world.standing(child.key), '401 key_expired')
    t.equal(await world.standing(parent.key), '200')
  },

  async K27(t, saw) {
    const world = await openWorld(t, saw)
    const key = await world.make({ scopes, expires_at: world.at(2 * HOUR) })
    t.equal(await setExpiry(world, key, world.at(HOUR), key.key), '200')
    for (const later of [world.at(HOUR + 1), world.at(2 * HOUR), null]) {
      t.equal(await setExpiry(world, key, later, key.key), '403 expiry_extension_forbidden')
    }
    t.equal(await setExpiry(world, key, world.at(2 * HOUR)), '200', 'its owner may')
  },

  async K28(t, saw) {
    const world = await openWorld(t, saw)
    const key = await world.make({ scopes, expires_at: world.at(HOUR) })
    const parent = await world.make({ scopes, expires_at: world.at(HOUR) })
    const child = await world.make({ scopes, expires_at: world.at(MINUTE) }, parent.key)
    await world.clock.advance(HOUR)
    for (const ended of [key, child]) {
      for (const later of [world.at(2 * HOUR), null]) {
        t.equal(await setExpiry(world, ended, later), '409 key_not_active')
      }
      t.equal(await world.ask('POST', `/v1/keys/${ended.id}/rotate`), '409 key_not_active')
      t.equal(await world.standing(ended.key), '401 key_expired')
    }
  },

  async K29(t, saw) {
    const world = await openWorld(t, saw)
    const key = await world.make({ scopes })
    const wrong: readonly unknown[] = [
      [world.at(0), world.at(-1), world.at(-HOUR), '2031', '2031-01-01', '2031-01-01T00:00:00'],
      ['2031-02-30T00:00:00Z', '2031-01-01T24:00:00Z', '2031-01-01 00:00:00Z', 'tomorrow', ''],
      [1e15, START + HOUR, (START + HOUR) / SECOND, true, [], {}],
    ].flat()
    for (const expires_at of wrong) {
      const title = JSON.stringify(expires_at)
      t.equal(await world.mint(world.user, { scopes, expires_at }), '400 invalid_request', title)
      t.equal(await setExpiry(world, key, expires_at), '400 invalid_request', title)
    }
  },

  async K30(t, saw) {
    const world = await openWorld(t, saw)
    const key = await world.make({ scopes, expires_at: world.at(HOUR) })
    await world.clock.advance(HOUR - 1)
    t.equal(await world.standing(key.key), '200')
    t.match((await world.request('GET', `/v1/keys/${key.id}`)).body, { status: 'active' })
    await world.clock.advance(1)
    t.equal(await world.standing(key.key), '401 key_expired')
    t.equal(await world.mint(key.key, { scopes }), '401 key_expired')
    t.match((await world.request('GET', `/v1/keys/${key.id}`)).body, { status: 'expired' })
    t.match((await world.request('GET', '/v1/keys')).body, { data: [] })
  },
}
