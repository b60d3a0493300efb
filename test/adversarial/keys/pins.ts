import { join } from 'node:path'
import { openSqlite } from '../../../plugins/store/sql/sqlite.ts'
import { nameTables } from '../../../plugins/store/sql/tables.ts'
import type { Page } from '../../support/webhooks.ts'
import type { AnyBody, Asker } from '../../support/world.ts'
import type { Checks } from '../run.ts'
import type { KeyWorld, Minted } from './world.ts'
import { openWorld } from './world.ts'

const BEYOND = '403 scope_not_delegable'
const ELSEWHERE = 'http://127.0.0.1:9/in'

/** Publishes an order, which everyone may whose pins permit it. */
function publish(world: KeyWorld, as: Asker, event: AnyBody): Promise<string> {
  return world.ask('POST', '/v1/events', as, { type: 'order.paid', data: {}, ...event })
}

async function declare({ request }: KeyWorld): Promise<void> {
  await request('PUT', '/v1/event-types/order.paid')
}

async function webhook({ request }: KeyWorld, apps?: readonly string[]): Promise<string> {
  const body = { url: ELSEWHERE, events: ['order.paid'], ...(apps && { apps }) }
  return (await request<{ id: string }>('POST', '/v1/webhooks', { body })).body.id
}

async function idsOf({ request }: KeyWorld, path: string, as: Asker): Promise<string[]> {
  const { data } = (await request<Page<{ id: string }>>('GET', path, { as })).body
  return data.map(({ id }) => id).sort()
}

export const PIN_CHECKS: Checks = {
  async K17(t, saw) {
    const world = await openWorld(t, saw)
    const { key } = await world.make({ scopes: ['*:*'], apps: ['a1'] })
    const child = await world.make({ scopes: ['*:*'] }, key)
    t.same(child['apps'], ['a1'])
    t.same((await world.make({ scopes: ['*:*'] }, child.key))['apps'], ['a1'])
  },

  async K18(t, saw) {
    const world = await openWorld(t, saw)
    const scopes = ['apps:read']
    const { key } = await world.make({ scopes: ['*:*'], apps: ['a1'] })
    for (const apps of [null, [], '*', 'a1', ['*'], [null], ['a 1'], ['a'.repeat(65)]]) {
      t.equal(await world.mint(key, { scopes, apps }), '400 invalid_request', JSON.stringify(apps))
    }
    for (const apps of [['a1', 'a2'], ['a2'], ['A1']]) {
      t.equal(await world.mint(key, { scopes, apps }), BEYOND, apps.join())
    }
    t.same((await world.make({ scopes, apps: ['a1', 'a1'] }, key))['apps'], ['a1'])
  },

  async K19(t, saw) {
    const world = await openWorld(t, saw)
    await declare(world)
    const pinned = await world.make({ scopes: ['*:*'], apps: ['a1'] })
    const as = pinned.key
    t.equal(await world.ask('GET', '/v1/event-types', as), '403 key_pinned')
    t.equal(await world.ask('PUT', '/v1/event-types/a.b', as), '403 key_pinned')
    t.equal(await publish(world, as, {}), '403 key_pinned')

    const near = await world.make({ scopes: ['apps:read'], apps: ['a1'] })
    await world.make({ scopes: ['apps:read'], apps: ['a1', 'a2'] })
    await world.make({ scopes: ['apps:read'] })
    t.same(await idsOf(world, '/v1/keys', as), [pinned.id, near.id].sort())
    const ours = await webhook(world, ['a1'])
    await webhook(world, ['a1', 'a2'])
    await webhook(world)
    t.same(await idsOf(world, '/v1/webhooks', as), [ours])
    t.equal(await publish(world, world.user, { id: 'evt_near', app_id: 'a1' }), '202')
    t.equal(await publish(world, world.user, { id: 'evt_far', app_id: 'a2' }), '202')
    t.equal(await publish(world, world.user, { id: 'evt_none' }), '202')
    t.same(await idsOf(world, '/v1/events', as), ['evt_near'])
  },

  async K20(t, saw) {
    const world = await openWorld(t, saw)
    await declare(world)
    const { key } = await world.make({ scopes: ['*:*'], apps: ['a1'] })
    const [own, other] = [await webhook(world, ['a1']), await webhook(world, ['a2'])]
    const claiming = { id: 'evt_claims', app_id: 'a1', data: { app_id: 'a2', type: 'a.b' } }
    t.equal(await publish(world, key, claiming), '202')
    t.equal((await idsOf(world, `/v1/webhooks/${own}/deliveries`, world.user)).length, 1)
    t.same(await idsOf(world, `/v1/webhooks/${other}/deliveries`, world.user), [])
    t.equal(await publish(world, key, { app_id: 'a2' }), '404 app_not_found')
    const filter = { apps: ['a1', 'a2'] }
    t.equal(await world.ask('PATCH', `/v1/webhooks/${own}`, key, filter), BEYOND)
  },

  async K21(t, saw) {
    const world = await openWorld(t, saw)
    await declare(world)
    const { id, key } = await world.make({ scopes: ['*:*'], apps: ['a1'] })
    const other = await world.make({ scopes: ['apps:read'], apps: ['a1'] })
    // The worst that a deletion could leave: pins that name nothing.
    const client = await openSqlite(join(t.testdirName, 'keyhook.sqlite'))
    const { keys } = nameTables('keyhook_')
    await client.exclusive('ping', (query) =>
      query(`UPDATE ${keys} SET pins = '[]' WHERE id = $1`, [id]),
    )
    await client.close()
    t.equal(await publish(world, key, {}), '403 key_pinned')
    t.equal(await publish(world, key, { app_id: 'a1' }), '404 app_not_found')
    t.equal(await world.ask('GET', `/v1/keys/${other.id}`, key), '404 key_not_found')
    t.equal(await world.mint(key, { scopes: ['*:*'], apps: ['a1'] }), BEYOND)
    const child = await world.make({ scopes: ['*:*'] }, key)
    t.same(child['apps'], [], 'what it mints holds as little')
  },

  async K22(t, saw) {
    const world = await openWorld(t, saw)
    const { key } = await world.make({ scopes: ['*:*'], apps: ['a1'] })
    const others: readonly Minted[] = [
      await world.make({ scopes: ['apps:read'], apps: ['a2'] }),
      await world.make({ scopes: ['apps:read'], apps: ['a1', 'a2'] }),
      await world.make({ scopes: ['apps:read'] }),
    ]
    for (const { id, key: value } of others) {
      const path = `/v1/keys/${id}`
      const answers = [
        await world.ask('GET', path, key),
        await world.ask('PATCH', path, key, { name: 'b' }),
        await world.ask('POST', `${path}/rotate`, key),
        await world.ask('DELETE', `${path}/previous`, key),
        await world.ask('DELETE', path, key),
      ]
      t.same(answers, Array<string>(5).fill('404 key_not_found'))
      t.equal(await world.standing(value), '200')
    }
  },

  async K23(t, saw) {
    const world = await openWorld(t, saw)
    const pinned = await world.make({ scopes: ['*:*'], apps: ['a1'] })
    const free = await world.make({ scopes: ['*:*'] })
    for (const { id } of [pinned, free]) {
      for (const apps of [['a1'], ['a1', 'a2'], null]) {
        for (const as of [world.user, world.operator, free.key]) {
          t.equal(await world.ask('PATCH', `/v1/keys/${id}`, as, { apps }), '400 invalid_request')
        }
      }
    }
  },
}
