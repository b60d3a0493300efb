import { DAY, HOUR, MINUTE } from '../../../lib/time.ts'
import type { Asker } from '../../support/world.ts'
import { race, ROUNDS } from '../race.ts'
import type { Checks } from '../run.ts'
import type { KeyWorld, Minted } from './world.ts'
import { openWorld } from './world.ts'

const ENDED = '401 key_expired'
const SUPERSEDED = '401 key_rotated'
const REPLACED = '403 previous_value_restricted'
const scopes = ['apps:read', 'keys:*']

/** The new value of a key that must be rotated. */
async function rotated(world: KeyWorld, { id }: Minted, seconds?: number): Promise<string> {
  const body = seconds === undefined ? undefined : { grace_seconds: seconds }
  const { status, body: record } = await world.rotate(id, world.user, body)
  if (status !== 201) throw new Error(`not rotated: ${JSON.stringify(record)}`)
  return record.key
}

/** What each value of a key may still do: change keys, only read, or nothing. */
function mayRename(world: KeyWorld, id: string, values: readonly string[]): Promise<string[]> {
  const body = { name: 'renamed' }
  return Promise.all(values.map((as) => world.ask('PATCH', `/v1/keys/${id}`, as, body)))
}

export const ROTATION_CHECKS: Checks = {
  async K31(t, saw) {
    const world = await openWorld(t, saw)
    const mighty = await world.make({ scopes: ['*:*'] })
    const below = await world.make({ scopes }, mighty.key)
    const beside = await world.make({ scopes })
    for (const { key } of [below, beside]) {
      const path = `/v1/keys/${mighty.id}/rotate`
      t.equal(await world.ask('POST', path, key), '403 key_not_managed')
    }
    t.equal(await world.standing(mighty.key), '200')
  },

  async K32(t, saw) {
    const world = await openWorld(t, saw)
    const { id, key } = await world.make({ scopes })
    const more = [
      { scopes: ['*:*'] },
      { apps: ['a1'] },
      { expires_at: null },
      { name: 'b' },
      { enabled: true },
      { parent_id: null },
    ]
    for (const given of more) {
      for (const body of [given, { grace_seconds: 0, ...given }]) {
        const answer = await world.ask('POST', `/v1/keys/${id}/rotate`, world.user, body)
        t.equal(answer, '400 invalid_request', JSON.stringify(body))
      }
    }
    t.same(await mayRename(world, id, [key]), ['200'], 'still the current value')
  },

  async K33(t, saw) {
    const world = await openWorld(t, saw)
    const stranger = world.userOf(await world.addAccount())
    const theirs = await world.make({ scopes }, stranger)
    const { key } = await world.make({ scopes: ['*:*'] })
    const unknown = theirs.id.replace(/.{4}$/, '0000')
    for (const as of [key, world.user, world.operator]) {
      for (const id of [theirs.id, unknown]) {
        t.equal(await world.ask('POST', `/v1/keys/${id}/rotate`, as), '404 key_not_found')
      }
    }
    t.equal(await world.standing(theirs.key), '200')
  },

  async K34(t, saw) {
    const world = await openWorld(t, saw)
    const made = await world.make({ scopes })
    const second = await rotated(world, made)
    await world.clock.advance(HOUR)
    const third = await rotated(world, made)
    const values = [made.key, second, third]
    t.same(await mayRename(world, made.id, values), [REPLACED, REPLACED, '200'])
    for (const value of values) t.equal(await world.standing(value), '200')
    await world.clock.advance(DAY - HOUR)
    t.equal(await world.standing(made.key), SUPERSEDED)
    t.equal(await world.standing(second), '200')
    await world.clock.advance(HOUR)
    t.equal(await world.standing(second), SUPERSEDED)
    t.equal(await world.standing(third), '200')
  },

  async K35(t, saw) {
    const world = await openWorld(t, saw)
    const { id, key } = await world.make({ scopes })
    const child = await world.make({ scopes }, key)
    await rotated(world, { id, key })
    const answers = [
      await world.mint(key, { scopes: ['apps:read'] }),
      await world.ask('POST', `/v1/keys/${id}/rotate`, key),
      await world.ask('POST', `/v1/keys/${child.id}/rotate`, key),
      await world.ask('PATCH', `/v1/keys/${id}`, key, { expires_at: world.at(DAY) }),
      await world.ask('PATCH', `/v1/keys/${child.id}`, key, { name: 'b' }),
      await world.ask('DELETE', `/v1/keys/${id}/previous`, key),
    ]
    t.same(answers, Array<string>(6).fill(REPLACED))
    t.equal(await world.ask('GET', '/v1/keys', key), '200')
  },

  async K36(t, saw) {
    const world = await openWorld(t, saw)
    const made = await world.make({ scopes, expires_at: world.at(HOUR) })
    const { body } = await world.rotate(made.id)
    t.match(body, { previous_valid_until: world.at(HOUR), expires_at: world.at(HOUR) })
    await world.clock.advance(HOUR - 1)
    t.equal(await world.standing(made.key), '200')
    await world.clock.advance(1)
    for (const value of [made.key, body.key]) t.equal(await world.standing(value), ENDED)
  },

  async K37(t, saw) {
    const world = await openWorld(t, saw)
    const revoked = await world.make({ scopes })
    const values = [revoked.key, await rotated(world, revoked)]
    for (const value of values) t.equal(await world.standing(value), '200', 'cached')
    t.equal(await world.ask('DELETE', `/v1/keys/${revoked.id}`), '200')
    for (const value of values) t.equal(await world.standing(value), '401 key_revoked')

    const leaked = await world.make({ scopes })
    t.equal(await world.standing(leaked.key), '200', 'cached')
    const fresh = await rotated(world, leaked, 0)
    t.equal(await world.standing(leaked.key), SUPERSEDED)
    t.equal(await world.standing(fresh), '200')
  },

  async K38(t, saw) {
    const world = await openWorld(t, saw)
    for (const order of ROUNDS) {
      for (const who of ['the user', 'the key itself'] as const) {
        const { id, key } = await world.make({ scopes })
        const as: Asker = who === 'the user' ? world.user : key
        const rotate = () => world.rotate(id, as)
        const answers = await race(t, world, rotate, rotate, order)
        const values = [key, ...answers.flatMap(({ body }) => body.key ?? [])]
        t.equal(values.length, who === 'the user' ? 3 : 2, `${who}, ${order}`)
        const standings = (await mayRename(world, id, values)).sort()
        t.same(standings.slice(0, 1), ['200'], 'one is current')
        const replaced = standings.filter((one) => one === REPLACED)
        t.equal(replaced.length, values.length - 1, 'every other one is replaced')
        await world.ask('DELETE', `/v1/keys/${id}`)
      }
      await world.clock.advance(MINUTE)
    }
  },
}
