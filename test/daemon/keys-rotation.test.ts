import t from 'tap'
import { DAY, HOUR, MINUTE, toIso } from '../../lib/time.ts'
import { START, keysWorld, patch, rotate, standing, told } from '../support/keys-world.ts'
import type { MintedKey } from '../support/world.ts'

await t.test('a retried rotation changes nothing more and shows no value', async (t) => {
  const world = await keysWorld(t)
  const { id, key } = await world.mintKey({ scopes: ['apps:read'] })
  const path = `/v1/keys/${id}/rotate`
  const asking = { as: key, headers: { 'idempotency-key': 'rotate' } }
  const first = await world.request('POST', path, asking)
  const again = await world.request('POST', path, asking)
  t.match(again, { status: 201, body: { ...first.body, key: null } })
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.equal(await standing(world, key), '200')
  t.equal(await standing(world, String(first.body['key'])), '200')
})

await t.test('every record of a key shows its last use', async (t) => {
  const world = await keysWorld(t)
  const { id, key } = await world.mintKey({ scopes: ['keys:*'] })
  const child = await world.mintKey({ scopes: ['keys:read'] }, key)
  const used = toIso(START)
  t.equal(await standing(world, child.key), '200')
  const path = `/v1/keys/${id}`
  const answers = [
    await world.request('GET', path),
    await world.request('PATCH', path, { body: { name: 'b' } }),
    await world.request('POST', `${path}/rotate`, { as: key }),
    await world.request('DELETE', `${path}/previous`),
    await world.request('DELETE', `/v1/keys/${child.id}`),
  ]
  for (const { body, status } of answers) t.equal(body['last_used_at'], used, String(status))
  const list = await world.request<{ data: { id: string; last_used_at: unknown }[] }>(
    'GET',
    '/v1/keys',
  )
  t.equal(list.body.data.find((one) => one.id === id)?.last_used_at, used)
})

await t.test('after a rotation both values work, and the older manages no keys', async (t) => {
  const world = await keysWorld(t)
  const scopes = ['events:*', 'keys:*']
  const { id, key: older } = await world.mintKey({ scopes })
  const child = await world.mintKey({ scopes: ['keys:read'] }, older)
  const rotated = await world.request('POST', `/v1/keys/${id}/rotate`, { as: older })
  t.match(rotated, {
    status: 201,
    body: { id, scopes, status: 'rotating', previous_valid_until: toIso(START + DAY) },
  })
  const newer = String(rotated.body['key'])
  t.equal(rotated.body['prefix'], newer.slice(0, 19))
  t.not(newer, older)
  for (const value of [older, newer]) {
    t.equal(await standing(world, value), '200')
    t.equal(told(await world.request('GET', '/v1/keys', { as: value })), '200')
    const body = { type: 'order.paid', data: {} }
    const published = await world.request('POST', '/v1/events', { as: value, body })
    t.equal(told(published), '400 undeclared_event_type', 'it may write, if the type were declared')
  }
  const managed = (as: string): Promise<string[]> =>
    Promise.all([
      world.request('POST', '/v1/keys', { as, body: { name: 'a', scopes: ['keys:read'] } }),
      world.request('POST', `/v1/keys/${child.id}/rotate`, { as }),
      world.request('PATCH', `/v1/keys/${id}`, { as, body: { name: 'renamed' } }),
      world.request('PATCH', `/v1/keys/${child.id}`, { as, body: { name: 'renamed' } }),
    ]).then((answers) => answers.map(told))
  const refused = '403 previous_value_restricted'
  t.same(await managed(older), [refused, refused, refused, refused], 'case 35')
  const itself = await world.request('POST', `/v1/keys/${id}/rotate`, { as: older })
  t.equal(told(itself), refused, 'case 35: nor does it rotate itself')
  t.same(await managed(newer), ['201', '201', '200', '200'])

  await world.clock.advance(DAY - 1)
  t.equal(await standing(world, older), '200')
  await world.clock.advance(1)
  t.equal(await standing(world, older), '401 key_rotated')
  const kept = await world.request('GET', `/v1/keys/${id}`, { as: newer })
  t.match(kept.body, { status: 'active', previous_valid_until: null, previous_values: [] })
})

await t.test('case 34: a second rotation leaves the oldest value its own grace', async (t) => {
  const world = await keysWorld(t)
  const { id, key: first } = await world.mintKey({ scopes: ['apps:read'] })
  const second = await rotate(world, id)
  t.equal(await standing(world, first), '200')
  const third = await rotate(world, id, { body: { grace_seconds: 60 } })
  for (const value of [first, second, third]) t.equal(await standing(world, value), '200')
  const { body } = await world.request('GET', `/v1/keys/${id}`)
  t.match(body, {
    previous_valid_until: toIso(START + DAY),
    previous_values: [
      { prefix: second.slice(0, 19), valid_until: toIso(START + MINUTE) },
      { prefix: first.slice(0, 19), valid_until: toIso(START + DAY) },
    ],
  })
  await world.clock.advance(MINUTE)
  t.equal(await standing(world, second), '401 key_rotated')
  t.equal(await standing(world, first), '200')
  await world.clock.advance(DAY - MINUTE)
  t.equal(await standing(world, first), '401 key_rotated')
  t.equal(await standing(world, third), '200')
})

await t.test('a grace is 0 to 86400 seconds, and 0 ends the old value at once', async (t) => {
  const world = await keysWorld(t)
  const { id, key } = await world.mintKey({ scopes: ['apps:read'] })
  t.equal(await standing(world, key), '200')
  const path = `/v1/keys/${id}/rotate`
  for (const grace of [-1, 86_401, 1.5, '60', null, true]) {
    const refused = await world.request('POST', path, { body: { grace_seconds: grace } })
    t.equal(told(refused), '400 invalid_request', JSON.stringify(grace))
  }
  for (const field of ['scopes', 'apps', 'expires_at', 'enabled', 'name', 'key']) {
    const body = { grace_seconds: 0, [field]: ['*:*'] }
    const refused = await world.request('POST', path, { body })
    t.equal(told(refused), '400 invalid_request', `case 32: ${field}`)
    t.match(refused.body, { error: { errors: [{ location: `body.${field}` }] } })
  }
  t.equal(await standing(world, key), '200')
  const rotated = await world.request('POST', path, { body: { grace_seconds: 0 } })
  t.match(rotated.body, { status: 'active', previous_valid_until: null })
  t.equal(await standing(world, key), '401 key_rotated', 'case 37')
  t.equal(await standing(world, String(rotated.body['key'])), '200')
})

await t.test('case 36: a grace ends with the key', async (t) => {
  const world = await keysWorld(t)
  const expires_at = toIso(START + HOUR)
  const body = { name: 'a', scopes: ['apps:read'], expires_at }
  const { id, key } = (await world.request<MintedKey>('POST', '/v1/keys', { body })).body
  const rotated = await world.request('POST', `/v1/keys/${id}/rotate`)
  t.match(rotated.body, { expires_at, previous_valid_until: expires_at })
  await world.clock.advance(HOUR - 1)
  t.equal(await standing(world, key), '200')
  await world.clock.advance(1)
  t.equal(await standing(world, key), '401 key_expired')
  t.equal(await standing(world, String(rotated.body['key'])), '401 key_expired')
})

await t.test('the old value can be ended before its grace', async (t) => {
  const world = await keysWorld(t)
  const { id, key } = await world.mintKey({ scopes: ['apps:read'] })
  const path = `/v1/keys/${id}/previous`
  t.equal(told(await world.request('DELETE', path)), '409 no_previous_value')
  const newer = await rotate(world, id, { as: key })
  t.equal(told(await world.request('DELETE', path, { as: key })), '403 previous_value_restricted')
  t.equal(await standing(world, key), '200')
  const ended = await world.request('DELETE', path, { as: newer })
  t.match(ended, { status: 200, body: { id, status: 'active', previous_valid_until: null } })
  t.equal(await standing(world, key), '401 key_rotated')
  t.equal(await standing(world, newer), '200')
  t.equal(told(await world.request('DELETE', path, { as: newer })), '409 no_previous_value')
})

await t.test(
  'case 38: of rotations at once, no more than five values are left alive',
  async (t) => {
    const world = await keysWorld(t)
    const { id, key } = await world.mintKey({ scopes: ['apps:read'] })
    const path = `/v1/keys/${id}/rotate`
    const own = await Promise.all(
      [1, 2, 3].map(() => world.request<MintedKey>('POST', path, { as: key })),
    )
    t.same(
      own.map(told).sort(),
      ['201', '403 previous_value_restricted', '403 previous_value_restricted'],
      'by itself: the first one wins, and by then the others bear a previous value',
    )
    const users = await Promise.all([1, 2, 3].map(() => world.request<MintedKey>('POST', path)))
    t.same(users.map(told), ['201', '201', '201'], 'by the user: one after another')
    const sixth = await world.request('POST', path)
    t.equal(told(sixth), '409 rotation_limit_reached')
    t.match(sixth.body, {
      error: { message: `DELETE /v1/keys/${id}/previous`, details: { limit: 5 } },
    })
    const values = [key, ...[...own, ...users].map(({ body }) => body.key)].filter(Boolean)
    const standings = await Promise.all(values.map((value) => standing(world, value)))
    t.equal(values.length, 5)
    t.same(standings, Array<string>(5).fill('200'))
  },
)

await t.test('case 50: a key rotates and revokes itself without keys:write', async (t) => {
  const world = await keysWorld(t)
  const { id, key } = await world.mintKey({ scopes: ['observe:read'], apps: ['a1'] })
  t.equal(told(await world.request('GET', `/v1/keys/${id}`, { as: key })), '403 insufficient_scope')
  t.equal(await patch(world, id, { name: 'b' }, key), '403 insufficient_scope')
  const newer = await rotate(world, id, { as: key })
  const revoked = await world.request('DELETE', `/v1/keys/${id}`, { as: newer })
  t.match(revoked, { status: 200, body: { id, status: 'revoked', revoked_at: toIso(START) } })
  t.equal(await standing(world, newer), '401 key_revoked', 'case 37')
  t.equal(await standing(world, key), '401 key_revoked', 'case 37: so is the value in its grace')

  const leaked = await world.mintKey({ scopes: ['observe:read'] })
  await rotate(world, leaked.id)
  const byOlder = await world.request('DELETE', `/v1/keys/${leaked.id}`, { as: leaked.key })
  t.equal(told(byOlder), '200', 'the previous value may revoke itself')
  t.equal(await standing(world, leaked.key), '401 key_revoked')
})
