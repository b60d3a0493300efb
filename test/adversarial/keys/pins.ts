import { join } from 'node:path'
import { collectGarbage } from '../../../daemon/families/apps/garbage-collection.ts'
import { DAY } from '../../../lib/time.ts'
import { openSqlite } from '../../../plugins/store/sql/sqlite.ts'
import { nameTables } from '../../../plugins/store/sql/tables.ts'
import type { Uploaded } from '../../support/knowledge.ts'
import { formOf } from '../../support/knowledge.ts'
import type { Page } from '../../support/webhooks.ts'
import type { AnyBody, Asker } from '../../support/world.ts'
import type { Checks } from '../run.ts'
import type { AppWorld, KeyWorld, Minted } from './world.ts'
import { openAppWorld } from './world.ts'

const BEYOND = '403 scope_not_delegable'
const NO_APP = '404 app_not_found'
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

/** An edit that writes one file; every app that was just made is at its first revision. */
const WRITING = { operations: [{ op: 'write', path: 'a.txt', content: 'a' }], base_revision: 1 }

/** An edit and a file of an app, by the account's user. */
async function fill({ request }: AppWorld, app: string): Promise<{ edit: string; file: string }> {
  const edit = await request('POST', `/v1/apps/${app}/edits`, { body: WRITING })
  const form = formOf([['pelicans.md', `# Pelicans of ${app}`]])
  const files = await request<Uploaded>('POST', `/v1/apps/${app}/files`, { form })
  return { edit: String(edit.body['id']), file: String(files.body.data[0]?.id) }
}

export const PIN_CHECKS: Checks = {
  async K17(t, saw) {
    const world = await openAppWorld(t, saw)
    const { key } = await world.make({ scopes: ['*:*'], apps: [world.a1] })
    let as = key
    for (const below of ['the minter', 'what it minted']) {
      const body = { name: 'a key', scopes: ['*:*'] }
      const made = await world.attempt<Minted>('POST', '/v1/keys', { as, body })
      t.same(made.body['apps'], [world.a1], below)
      as = made.body.key
    }
  },

  async K18(t, saw) {
    const world = await openAppWorld(t, saw)
    const { a1, a2 } = world
    const scopes = ['apps:read']
    const { key } = await world.make({ scopes: ['*:*'], apps: [a1] })
    for (const apps of [null, [], '*', a1, ['*'], [null], ['a 1'], ['a'.repeat(65)]]) {
      t.equal(await world.mint(key, { scopes, apps }), '400 invalid_request', JSON.stringify(apps))
    }
    for (const apps of [[a1, a2], [a2], [a1.toUpperCase()], ['nowhere']]) {
      t.equal(await world.mint(key, { scopes, apps }), BEYOND, apps.join())
    }
    t.same((await world.make({ scopes, apps: [a1, a1] }, key))['apps'], [a1])
  },

  async K19(t, saw) {
    const world = await openAppWorld(t, saw)
    const { a1, a2 } = world
    await declare(world)
    const pinned = await world.make({ scopes: ['*:*'], apps: [a1] })
    const as = pinned.key
    t.equal(await world.ask('POST', '/v1/apps', as, { template_id: 'blank' }), '403 key_pinned')
    t.equal(await world.ask('POST', `/v1/apps/${a1}/clone`, as), '403 key_pinned')
    t.same(await idsOf(world, '/v1/apps?include_archived=true', as), [a1])
    t.equal(await world.ask('GET', '/v1/templates', as), '200')
    t.equal(await world.ask('GET', '/v1/event-types', as), '403 key_pinned')
    t.equal(await world.ask('PUT', '/v1/event-types/a.b', as), '403 key_pinned')
    t.equal(await publish(world, as, {}), '403 key_pinned')
    t.equal(await world.ask('GET', '/v1/audit-log', as), '403 owner_required')

    const near = await world.make({ scopes: ['apps:read'], apps: [a1] })
    await world.make({ scopes: ['apps:read'], apps: [a1, a2] })
    await world.make({ scopes: ['apps:read'] })
    t.same(await idsOf(world, '/v1/keys', as), [pinned.id, near.id].sort())
    const ours = await webhook(world, [a1])
    await webhook(world, [a1, a2])
    await webhook(world)
    t.same(await idsOf(world, '/v1/webhooks', as), [ours])
    t.equal(await publish(world, world.user, { id: 'evt_near', app_id: a1 }), '202')
    t.equal(await publish(world, world.user, { id: 'evt_far', app_id: a2 }), '202')
    t.equal(await publish(world, world.user, { id: 'evt_none' }), '202')
    t.same(await idsOf(world, '/v1/events?type=order.paid', as), ['evt_near'])
    const [made] = (await world.request<Page<AnyBody>>('GET', '/v1/events', { as })).body.data
    t.match(made, { id: 'evt_near' })
    t.equal((await idsOf(world, '/v1/events', as)).length, 2, 'and that its app was made')
  },

  async K20(t, saw) {
    const world = await openAppWorld(t, saw)
    const { a1, a2 } = world
    await declare(world)
    const { key } = await world.make({ scopes: ['*:*'], apps: [a1] })
    const [own, other] = [await webhook(world, [a1]), await webhook(world, [a2])]
    const claiming = { id: 'evt_claims', app_id: a1, data: { app_id: a2, type: 'a.b' } }
    t.equal(await publish(world, key, claiming), '202')
    t.equal((await idsOf(world, `/v1/webhooks/${own}/deliveries`, world.user)).length, 1)
    t.same(await idsOf(world, `/v1/webhooks/${other}/deliveries`, world.user), [])
    t.equal(await publish(world, key, { app_id: a2 }), NO_APP)
    const filter = { apps: [a1, a2] }
    t.equal(await world.ask('PATCH', `/v1/webhooks/${own}`, key, filter), BEYOND)

    const [ours, theirs] = [await fill(world, a1), await fill(world, a2)]
    const editing = { ...WRITING, base_revision: 2 }
    for (const field of ['app_id', 'id', 'app']) {
      const both = { ...editing, [field]: a2 }
      t.equal(await world.ask('POST', `/v1/apps/${a1}/edits`, key, both), '400 invalid_request')
    }
    for (const path of [`../${a2}/a.txt`, `/${a2}/a.txt`]) {
      const beyond = { ...editing, operations: [{ op: 'write', path, content: 'a' }] }
      t.equal(await world.ask('POST', `/v1/apps/${a1}/edits`, key, beyond), '400 path_not_allowed')
    }
    const at = `/v1/apps/${a1}`
    t.equal(await world.ask('GET', `${at}/edits/${theirs.edit}`, key), '404 edit_not_found')
    t.equal(await world.ask('POST', `${at}/edits/${theirs.edit}/revert`, key), '404 edit_not_found')
    t.equal(await world.ask('GET', `${at}/files/${theirs.file}`, key), '404 file_not_found')
    t.equal(await world.ask('DELETE', `${at}/files/${theirs.file}`, key), '404 file_not_found')
    const files = [ours.file, theirs.file]
    const searching = { as: key, body: { query: 'pelicans', files } }
    t.match(await world.request('POST', `${at}/files/search`, searching), {
      status: 200,
      body: { data: [] },
    })
    t.equal(await world.ask('GET', `/v1/apps/${a2}/files/${ours.file}`, key), NO_APP)
    t.equal(await world.ask('GET', `/v1/apps/${a2}/edits/${ours.edit}`, key), NO_APP)
    t.match((await world.request('GET', `/v1/apps/${a2}`)).body, { current_revision: 2 })
  },

  async K21(t, saw) {
    const world = await openAppWorld(t, saw)
    const { a1, a2 } = world
    await declare(world)
    const { edit, file } = await fill(world, a1)
    const { id, key } = await world.make({ scopes: ['*:*'], apps: [a1] })
    const other = await world.make({ scopes: ['apps:read'], apps: [a1] })

    t.equal((await world.request('DELETE', `/v1/apps/${a1}`)).status, 200)
    t.equal(await world.ask('PATCH', `/v1/apps/${a1}`, key, { name: 'b' }), '409 app_archived')
    t.equal(await world.ask('POST', `/v1/apps/${a1}/edits`, key, WRITING), '409 app_archived')
    world.clock.set(31 * DAY)
    const {
      store,
      plugins: { appBytes },
      clock,
    } = world.platform
    if (appBytes === undefined) throw new Error('apps have bytes')
    t.match(await collectGarbage(store, appBytes, clock.now()), { apps: 1 })

    const gone = [
      ['GET', ''],
      ['PATCH', '', { name: 'b' }],
      ['DELETE', ''],
      ['POST', '/restore'],
      ['GET', '/tree'],
      ['GET', '/edits'],
      ['GET', `/edits/${edit}`],
      ['POST', '/edits', WRITING],
      ['GET', '/files'],
      ['GET', `/files/${file}`],
      ['POST', '/files/search', { query: 'pelicans' }],
    ] as const
    for (const [method, path, body] of gone) {
      t.equal(await world.ask(method, `/v1/apps/${a1}${path}`, key, body), NO_APP, path)
      t.equal(await world.ask(method, `/v1/apps/${a2}${path}`, key, body), NO_APP, path)
    }
    t.same(await idsOf(world, '/v1/apps?include_archived=true', key), [])
    t.equal(await world.ask('POST', '/v1/apps', key, { template_id: 'blank' }), '403 key_pinned')
    const again = { template_id: 'blank', id: a1 }
    t.equal(await world.ask('POST', '/v1/apps', world.user, again), '400 invalid_request')
    t.equal(await publish(world, key, {}), '403 key_pinned')
    t.equal(await publish(world, key, { app_id: a2 }), NO_APP)
    t.equal(await publish(world, key, { app_id: a1 }), '202', 'of what is gone one may still tell')
    t.equal(await world.mint(key, { scopes: ['*:*'], apps: [a2] }), BEYOND)
    t.equal(await world.mint(key, { scopes: ['*:*'], apps: [a1] }), NO_APP)
    t.same((await world.make({ scopes: ['*:*'] }, key))['apps'], [a1])

    // The worst that a deletion could leave: pins that name nothing.
    const client = await openSqlite(join(t.testdirName, 'keyhook.sqlite'))
    const { keys } = nameTables('keyhook_')
    await client.exclusive('ping', (query) =>
      query(`UPDATE ${keys} SET pins = '[]' WHERE id = $1`, [id]),
    )
    await client.close()
    const bare = await world.make({ scopes: ['*:*'] }, key)
    t.same(bare['apps'], [], 'what it mints holds as little')
    t.equal(await publish(world, bare.key, {}), '403 key_pinned')
    t.equal(await publish(world, bare.key, { app_id: a1 }), NO_APP)
    t.equal(await world.ask('GET', `/v1/apps/${a2}`, bare.key), NO_APP)
    t.equal(await world.ask('GET', `/v1/keys/${other.id}`, bare.key), '404 key_not_found')
    t.equal(await world.mint(bare.key, { scopes: ['*:*'], apps: [a2] }), BEYOND)
  },

  async K22(t, saw) {
    const world = await openAppWorld(t, saw)
    const { a1, a2 } = world
    const { key } = await world.make({ scopes: ['*:*'], apps: [a1] })
    const others: readonly Minted[] = [
      await world.make({ scopes: ['apps:read'], apps: [a2] }),
      await world.make({ scopes: ['apps:read'], apps: [a1, a2] }),
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
    const world = await openAppWorld(t, saw)
    const { a1, a2 } = world
    const pinned = await world.make({ scopes: ['*:*'], apps: [a1] })
    const free = await world.make({ scopes: ['*:*'] })
    for (const { id } of [pinned, free]) {
      for (const apps of [[a1], [a1, a2], null]) {
        for (const as of [world.user, world.operator, free.key]) {
          t.equal(await world.ask('PATCH', `/v1/keys/${id}`, as, { apps }), '400 invalid_request')
        }
      }
    }
  },
}
