import { join } from 'node:path'
import { openSqlite } from '../../../plugins/store/sql/sqlite.ts'
import { nameTables } from '../../../plugins/store/sql/tables.ts'
import { holdNextRead, race, ROUNDS } from '../race.ts'
import type { Checks } from '../run.ts'
import type { KeyWorld, Minted } from './world.ts'
import { openWorld } from './world.ts'

const REVOKED = '401 key_revoked'
const scopes = ['apps:*', 'keys:*']

/** Takes a key out of what is kept, by a change that changes nothing. */
async function forget({ platform, account }: KeyWorld, id: string): Promise<void> {
  const key = await platform.store.keys.get(account.id, id)
  if (key === undefined) throw new Error('there is no such key')
  await platform.store.write((tx) => tx.keys.update(key, { name: key.name }, platform.clock.now()))
}

const revoke = (world: KeyWorld, { id }: Minted) => world.ask('DELETE', `/v1/keys/${id}`)

/** A key and, below each other, as many as asked for. */
async function line(world: KeyWorld, length: number): Promise<readonly Minted[]> {
  const keys: Minted[] = []
  for (let depth = 0; depth < length; depth += 1) {
    keys.push(await world.make({ scopes }, keys.at(-1)?.key))
  }
  return keys
}

/** Revokes the top of a line while its end mints, in both orders; no live key may be left. */
async function revokingBesideMinting(
  t: Parameters<Checks[string]>[0],
  world: KeyWorld,
  length: number,
): Promise<void> {
  for (const order of ROUNDS) {
    const keys = await line(world, length)
    const [top, minter] = [keys[0], keys.at(-1)]
    if (top === undefined || minter === undefined) throw new Error('the line is empty')
    const body = { name: 'late', scopes: ['apps:read'] }
    const minting = () =>
      world.attempt<Partial<Minted>>('POST', '/v1/keys', { as: minter.key, body })
    const [minted, revoked] = await race(t, world, minting, () => revoke(world, top), order)
    t.equal(revoked, '200')
    t.equal(minted.status, order === 'first before second' ? 201 : 401, order)
    const values = [...keys.map(({ key }) => key), ...(minted.body.key ? [minted.body.key] : [])]
    for (const value of values) t.equal(await world.standing(value), REVOKED)
  }
}

export const ENDING_CHECKS: Checks = {
  async K39(t, saw) {
    await revokingBesideMinting(t, await openWorld(t, saw), 1)
  },

  async K40(t, saw) {
    await revokingBesideMinting(t, await openWorld(t, saw), 3)
  },

  async K41(t, saw) {
    const world = await openWorld(t, saw)
    const manager = await world.make({ scopes: ['*:*'] })
    const actors = ['user', 'operator', 'manager', 'parent', 'itself', 'replaced value'] as const
    for (const actor of actors) {
      const [parent, key, child] = await line(world, 3)
      if (parent === undefined || key === undefined || child === undefined) throw new Error('short')
      const { body: newer } = await world.rotate(key.id)
      const values = [key.key, newer.key, child.key]
      for (const value of values) t.equal(await world.standing(value), '200', 'cached')
      const as = {
        user: world.user,
        operator: world.operator,
        manager: manager.key,
        parent: parent.key,
        itself: newer.key,
        'replaced value': key.key,
      }[actor]
      t.equal(await world.ask('DELETE', `/v1/keys/${key.id}`, as), '200', actor)
      for (const value of values) t.equal(await world.standing(value), REVOKED, actor)
      t.equal(await world.standing(parent.key), '200', actor)
    }
  },

  async K42(t, saw) {
    const world = await openWorld(t, saw)
    const [parent, child] = await line(world, 2)
    if (parent === undefined || child === undefined) throw new Error('short')
    const client = await openSqlite(join(t.testdirName, 'keyhook.sqlite'))
    const { keys, key_secrets } = nameTables('keyhook_')
    const deleting = client.transaction(async (query) => {
      await query(`DELETE FROM ${key_secrets} WHERE key_id = $1`, [parent.id])
      await query(`DELETE FROM ${keys} WHERE id = $1`, [parent.id])
    })
    await t.rejects(deleting, /FOREIGN KEY constraint failed/)
    await client.close()
    t.equal(await world.standing(child.key), '200')
    t.equal(await revoke(world, parent), '200')
    t.equal(await world.standing(child.key), REVOKED)
  },

  async K43(t, saw) {
    const world = await openWorld(t, saw)
    const patch =
      ({ id }: Minted, body: unknown) =>
      () =>
        world.ask('PATCH', `/v1/keys/${id}`, world.user, body)
    for (const order of ROUNDS) {
      const late = order === 'second before first'
      const renamed = await world.make({ scopes })
      const narrow = patch(renamed, { scopes: ['apps:read'] })
      const both = await race(t, world, narrow, patch(renamed, { name: 'b' }), order)
      t.same(both, ['200', '200'])
      const { body } = await world.request('GET', `/v1/keys/${renamed.id}`)
      t.match(body, { name: 'b', scopes: ['apps:read'] }, order)

      const ended = await world.make({ scopes })
      const rename = patch(ended, { name: 'b' })
      const beside = await race(t, world, () => revoke(world, ended), rename, order)
      t.same(beside, ['200', late ? '200' : '409 key_not_active'])
      t.equal(await world.standing(ended.key), REVOKED, order)

      const split = await world.make({ scopes })
      const answers = await race(
        t,
        world,
        patch(split, { scopes: ['apps:*'] }),
        patch(split, { scopes: ['keys:*'] }),
        order,
      )
      const refused = '403 scope_widening_forbidden'
      t.same(answers, late ? [refused, '200'] : ['200', refused], order)
      for (const key of [renamed, split]) await revoke(world, key)
    }
  },

  async K44(t, saw) {
    const folder = t.testdir()
    const place = { testdir: () => folder, teardown: t.teardown.bind(t) }
    const one = await openWorld(place, saw)
    const other = await openWorld(place, saw)
    const [parent, child] = await line(one, 2)
    if (parent === undefined || child === undefined) throw new Error('short')
    t.equal(await other.standing(child.key), '200')
    t.equal(await revoke(one, parent), '200')
    t.equal(await other.standing(child.key), '200', 'the other process was told nothing')
    const path = `/v1/keys/${child.id}`
    const answers = [
      await other.mint(child.key, { scopes: ['apps:read'] }),
      await other.ask('PATCH', path, child.key, { name: 'b' }),
      await other.ask('POST', `${path}/rotate`, child.key),
      await other.ask('DELETE', path, child.key),
    ]
    t.same(answers, Array<string>(4).fill(REVOKED))
  },

  async K45(t, saw) {
    const world = await openWorld(t, saw)
    for (let round = 0; round < 20; round += 1) {
      const [parent, child] = await line(world, 2)
      if (parent === undefined || child === undefined) throw new Error('short')
      await forget(world, child.id)
      const { read, land } = holdNextRead(t, world)
      const early = world.standing(child.key)
      await read
      t.equal(await revoke(world, round % 2 === 0 ? child : parent), '200')
      t.equal(await world.standing(child.key), REVOKED, 'while the older answer is on its way')
      land()
      t.equal(await early, '200', 'it began before the revocation')
      t.equal(await world.standing(child.key), REVOKED)
      await revoke(world, parent)
    }
  },
}
