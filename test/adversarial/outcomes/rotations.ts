import { DAY, HOUR, toIso } from '../../../lib/time.ts'
import type { Checks } from '../run.ts'
import { START, openWorld } from '../keys/world.ts'
import type { KeyWorld, Minted } from '../keys/world.ts'

const scopes = ['webhooks:read', 'keys:*']
const LIMIT = '409 rotation_limit_reached'

/** Rotates a key one hour after the other, as often as its values allow: all of them, oldest first. */
async function rotateToLimit(world: KeyWorld, { id, key }: Minted): Promise<readonly string[]> {
  const values = [key]
  while (values.length < 5) {
    await world.clock.advance(HOUR)
    const { body } = await world.rotate(id)
    values.push(body.key)
  }
  return values
}

const standings = (world: KeyWorld, values: readonly string[]): Promise<string[]> =>
  Promise.all(values.map((value) => world.standing(value)))

export const ROTATION_LIMIT_CHECKS: Checks = {
  async O05(t, saw) {
    const world = await openWorld(t, saw)
    const made = await world.make({ scopes })
    const values = await rotateToLimit(world, made)
    t.same(await standings(world, values), Array<string>(5).fill('200'))
    const { body } = await world.request<Record<string, unknown>>('GET', `/v1/keys/${made.id}`)
    const previous = values.slice(0, 4).map((value, index) => ({
      prefix: value.slice(0, 19),
      valid_until: toIso(START + (index + 1) * HOUR + DAY),
    }))
    t.same(body['previous_values'], previous.toReversed())
    t.equal(body['previous_valid_until'], previous.at(-1)?.valid_until)
    await world.clock.advance(DAY - 3 * HOUR)
    const later = ['401 key_rotated', '200', '200', '200', '200']
    t.same(await standings(world, values), later, 'each by its own 24 hours')
  },

  async O06(t, saw) {
    const world = await openWorld(t, saw)
    const made = await world.make({ scopes })
    const values = await rotateToLimit(world, made)
    const current = values.at(-1) ?? ''
    for (const as of [world.user, current]) {
      const refused = await world.attempt('POST', `/v1/keys/${made.id}/rotate`, { as })
      t.match(refused.body, { error: { message: `DELETE /v1/keys/${made.id}/previous` } })
    }
    t.same(await standings(world, values), Array<string>(5).fill('200'), 'nothing was changed')
    const path = `/v1/keys/${made.id}/previous`
    t.equal(await world.ask('DELETE', path, current), '200')
    const ended = [...Array<string>(4).fill('401 key_rotated'), '200']
    t.same(await standings(world, values), ended)
    t.equal((await world.rotate(made.id)).status, 201)
  },

  async O07(t, saw) {
    const world = await openWorld(t, saw)
    const made = await world.make({ scopes })
    const values = await rotateToLimit(world, made)
    t.equal(await world.ask('POST', `/v1/keys/${made.id}/rotate`), LIMIT)
    const path = `/v1/keys/${made.id}/rotate`
    const urgent = await world.attempt<Minted>('POST', path, { body: { grace_seconds: 0 } })
    t.equal(urgent.status, 201, 'it adds no live value')
    t.same(await standings(world, values), [...Array<string>(4).fill('200'), '401 key_rotated'])
    t.equal(await world.standing(urgent.body.key), '200')
  },

  async O08(t, saw) {
    const world = await openWorld(t, saw)
    const made = await world.make({ scopes })
    const values = await rotateToLimit(world, made)
    const body = { scopes: ['keys:read'] }
    t.equal(await world.ask('PATCH', `/v1/keys/${made.id}`, world.user, body), '200')
    for (const value of values) {
      t.equal(await world.ask('GET', '/v1/webhooks', value), '403 insufficient_scope')
    }
    t.equal(await world.ask('DELETE', `/v1/keys/${made.id}`), '200')
    t.same(await standings(world, values), Array<string>(5).fill('401 key_revoked'))
  },
}
