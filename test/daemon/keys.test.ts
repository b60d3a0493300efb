import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { eventsFamily } from '../../daemon/families/events/family.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { DAY, HOUR, MINUTE, SECOND, toIso } from '../../lib/time.ts'
import type { VirtualClock } from '../support/clock.ts'
import { createClock } from '../support/clock.ts'
import type { Page } from '../support/webhooks.ts'
import type { AnyBody, Asker, Asking, MintedKey, World, WorldOptions } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

const START = Date.parse('2030-01-31T12:00:00.000Z')
const families = [webhooksFamily, eventsFamily]

/** A world whose time goes on when the test says so. */
async function keysWorld(
  t: Parameters<typeof createWorld>[0],
  options: WorldOptions = {},
): Promise<World & { readonly clock: VirtualClock }> {
  const clock = createClock(START)
  return { ...(await createWorld(t, { families, clock, ...options })), clock }
}

/** The status, and the code of a refusal: `201` or `403 insufficient_scope`. */
function told({ status, body }: { readonly status: number; readonly body: object }): string {
  const { error } = body as { readonly error?: { readonly code: string } }
  return error === undefined ? String(status) : `${status} ${error.code}`
}

/** What the holder of a value is told when it asks about itself. */
async function standing({ request }: World, value: string): Promise<string> {
  return told(await request('GET', '/v1/keys/self', { as: value }))
}

async function rotate(world: World, id: string, asking: Asking = {}): Promise<string> {
  const { status, body } = await world.request('POST', `/v1/keys/${id}/rotate`, asking)
  if (status !== 201) throw new Error(JSON.stringify(body))
  return String(body['key'])
}

const patch = (world: World, id: string, body: unknown, as: Asker = world.user): Promise<string> =>
  world.request('PATCH', `/v1/keys/${id}`, { as, body }).then(told)

await t.test('a key is created with its value shown once and never again', async (t) => {
  const world = await keysWorld(t)
  const asking = {
    body: { name: 'CI', scopes: ['apps:read', 'keys:*', 'apps:*'], apps: ['b', 'a', 'b'] },
    headers: { 'idempotency-key': 'one' },
  }
  const made = await world.request<MintedKey>('POST', '/v1/keys', asking)
  t.equal(made.status, 201)
  t.equal(made.headers.get('idempotency-replayed'), null)
  const { key, ...record } = made.body
  t.match(key, /^service_dk_[0-9A-Za-z]{49}$/)
  t.same(record, {
    id: record.id,
    name: 'CI',
    prefix: key.slice(0, 'service_dk_'.length + 8),
    scopes: ['apps:*', 'keys:*'],
    apps: ['a', 'b'],
    status: 'active',
    parent_key_id: null,
    created_by: { type: 'user', id: world.user.user_id },
    created_at: toIso(START),
    updated_at: toIso(START),
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
    previous_valid_until: null,
  })

  const replayed = await world.request('POST', '/v1/keys', asking)
  t.equal(replayed.status, 201)
  t.equal(replayed.headers.get('idempotency-replayed'), 'true')
  t.same(replayed.body, { ...record, key: null }, 'a replay shows null')
  t.same((await world.request('GET', `/v1/keys/${record.id}`)).body, record)
  t.same((await world.request('GET', '/v1/keys')).body['data'], [record])
  const self = await world.request('GET', '/v1/keys/self', { as: key })
  t.match(self, { status: 200, body: record })
  const file = join(t.testdirName, 'keyhook.sqlite')
  for (const path of [file, `${file}-wal`]) {
    t.notOk(readFileSync(path).includes(key.slice(-49)), 'the value stands in no file')
  }
})

await t.test(
  'under one Idempotency-Key there is one key, and another body is a mismatch',
  async (t) => {
    const world = await keysWorld(t)
    const { key } = await world.mintKey({ scopes: ['keys:write', 'apps:read'] })
    const asking = (name: string, as: Asker = world.user): Asking => ({
      as,
      body: { name, scopes: ['apps:read'] },
      headers: { 'idempotency-key': 'same' },
    })
    const twins = await Promise.all(
      Array.from({ length: 6 }, () => world.request('POST', '/v1/keys', asking('twin'))),
    )
    t.same(
      twins.map(told),
      twins.map(() => '201'),
    )
    t.equal(new Set(twins.map(({ body }) => body['id'])).size, 1)
    t.equal(twins.filter(({ body }) => body['key'] !== null).length, 1, 'one is told the value')
    const replays = twins.map(({ headers }) => headers.get('idempotency-replayed'))
    t.equal(replays.filter((replay) => replay === 'true').length, 5)

    const mismatch = await world.request('POST', '/v1/keys', asking('another'))
    t.equal(told(mismatch), '422 idempotency_mismatch')
    const others = await world.request('POST', '/v1/keys', asking('another', key))
    t.equal(told(others), '201', 'another caller has keys of its own')
    const kept = await world.request<Page<MintedKey>>('GET', '/v1/keys')
    t.equal(kept.body.data.length, 3)
    await world.clock.advance(DAY)
    const later = await world.request('POST', '/v1/keys', asking('another'))
    t.equal(told(later), '201', 'it is remembered for 24 hours')
  },
)

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
  t.equal(await standing(world, older), '401 key_expired')
  const kept = await world.request('GET', `/v1/keys/${id}`, { as: newer })
  t.match(kept.body, { status: 'active', previous_valid_until: null })
})

await t.test('case 34: a second rotation ends the oldest value at once', async (t) => {
  const world = await keysWorld(t)
  const { id, key: first } = await world.mintKey({ scopes: ['apps:read'] })
  const second = await rotate(world, id)
  t.equal(await standing(world, first), '200')
  const third = await rotate(world, id, { body: { grace_seconds: 60 } })
  t.equal(await standing(world, first), '401 key_expired')
  t.equal(await standing(world, second), '200')
  t.equal(await standing(world, third), '200')
  await world.clock.advance(MINUTE)
  t.equal(await standing(world, second), '401 key_expired')
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
  t.equal(await standing(world, key), '401 key_expired', 'case 37')
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
  t.equal(await standing(world, key), '401 key_expired')
  t.equal(await standing(world, newer), '200')
  t.equal(told(await world.request('DELETE', path, { as: newer })), '409 no_previous_value')
})

await t.test('case 38: of rotations at once, no more than two values are left alive', async (t) => {
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
  const values = [key, ...[...own, ...users].map(({ body }) => body.key)].filter(Boolean)
  const standings = await Promise.all(values.map((value) => standing(world, value)))
  t.equal(values.length, 5)
  t.same(
    standings.filter((one) => one !== '401 key_expired'),
    ['200', '200'],
  )
})

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

await t.test('revoking is for ever, and can be asked for again', async (t) => {
  const world = await keysWorld(t)
  const { id, key } = await world.mintKey({ scopes: ['apps:read'] })
  t.match((await world.request('DELETE', `/v1/keys/${id}`)).body, { revoked_at: toIso(START) })
  await world.clock.advance(SECOND)
  const again = await world.request('DELETE', `/v1/keys/${id}`)
  t.match(again, { status: 200, body: { id, status: 'revoked', revoked_at: toIso(START) } })
  t.equal(told(await world.request('POST', `/v1/keys/${id}/rotate`)), '409 key_not_active')
  t.equal(await patch(world, id, { name: 'b' }), '409 key_not_active')
  const ended = await world.request('GET', '/v1/keys/self', { as: key })
  t.equal(told(ended), '401 key_revoked')
  t.match(ended.headers.get('www-authenticate'), 'invalid_token')
  const forged = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`
  t.equal(await standing(world, forged), '401 invalid_key', 'case 52')
  t.equal(await standing(world, `${key}x`), '401 invalid_key', 'case 52')
  t.match(await world.request('GET', `/v1/keys/${id}`), {
    status: 200,
    body: { status: 'revoked' },
  })
  t.same((await world.request('GET', '/v1/keys')).body['data'], [])
  const all = await world.request<Page<MintedKey>>('GET', '/v1/keys?status=all')
  t.same(
    all.body.data.map((one) => one.id),
    [id],
  )
})

await t.test(
  'a key below a revoked one is shown as revoked, and listed among all alone',
  async (t) => {
    const world = await keysWorld(t)
    const parent = await world.mintKey({ scopes: ['keys:write'] })
    const child = await world.mintKey({ scopes: ['keys:write'] }, parent.key)
    await world.request('DELETE', `/v1/keys/${parent.id}`)
    t.match(await world.request('GET', `/v1/keys/${child.id}`), { body: { status: 'revoked' } })
    t.match(await world.request('GET', '/v1/keys'), { body: { data: [] } })
    t.match(await world.request('GET', '/v1/keys?status=all'), {
      body: {
        data: [
          { id: child.id, status: 'revoked' },
          { id: parent.id, status: 'revoked' },
        ],
      },
    })
  },
)

await t.test('revoking names the webhooks that the key or its descendants made', async (t) => {
  const world = await keysWorld(t)
  const scopes = ['keys:write', 'webhooks:*']
  const parent = await world.mintKey({ scopes })
  const child = await world.mintKey({ scopes }, parent.key)
  const hook = async (as: Asker): Promise<string> => {
    const body = { url: 'http://127.0.0.1:9/in', events: ['webhook.test'] }
    const made = await world.request('POST', '/v1/webhooks', { as, body })
    return String(made.body['id'])
  }
  const [byParent, byChild, byUser] = [
    await hook(parent.key),
    await hook(child.key),
    await hook(world.user),
  ]
  const status = async (id: string): Promise<unknown> =>
    (await world.request('GET', `/v1/webhooks/${id}`)).body['status']
  const kept = await world.request('DELETE', `/v1/keys/${child.id}`)
  t.same(kept.body['webhooks'], [byChild])
  t.equal(await status(byChild), 'active', 'webhooks outlive keys')
  const path = `/v1/keys/${parent.id}?webhooks=disable`
  const disabled = (await world.request('DELETE', path)).body['webhooks'] as string[]
  t.same(disabled.sort(), [byParent, byChild].sort())
  t.equal(await status(byParent), 'disabled')
  t.equal(await status(byChild), 'disabled')
  t.equal(await status(byUser), 'active')
  t.equal(told(await world.request('DELETE', `${path}d`)), '400 invalid_request')
})

await t.test('PATCH renames and narrows, and never widens', async (t) => {
  const world = await keysWorld(t)
  const { id, key } = await world.mintKey({ scopes: ['*:read', 'keys:write'] })
  t.equal(await patch(world, id, { name: 'renamed' }, key), '200')
  const narrowed = await world.request('PATCH', `/v1/keys/${id}`, {
    body: { scopes: ['keys:write', 'apps:read', 'apps:read'] },
  })
  t.match(narrowed, { status: 200, body: { name: 'renamed', scopes: ['apps:read', 'keys:write'] } })
  for (const scopes of [['*:read'], ['apps:write'], ['apps:*'], ['apps:read', 'files:read']]) {
    const wider = '403 scope_widening_forbidden'
    t.equal(await patch(world, id, { scopes }), wider, `case 9: ${scopes.join(' ')}`)
    t.equal(await patch(world, id, { scopes }, key), wider)
  }
  t.equal(await patch(world, id, { scopes: ['*:write'] }), '400 invalid_scope')
  for (const scopes of [[], null, 'apps:read', {}, [null]]) {
    t.equal(await patch(world, id, { scopes }), '400 invalid_request', JSON.stringify(scopes))
  }
  const read = await world.request('GET', '/v1/keys', { as: key })
  t.equal(told(read), '403 insufficient_scope', 'the next request sees it, though cached')
  t.match((await world.request('GET', `/v1/keys/${id}`)).body, { scopes: narrowed.body['scopes'] })
})

await t.test('case 46: fields that are not the caller’s to set are refused', async (t) => {
  const world = await keysWorld(t)
  const { id } = await world.mintKey({ scopes: ['apps:read'] })
  const before = await world.request('GET', `/v1/keys/${id}`)
  const fields = [
    'id',
    'account_id',
    'parent_id',
    'apps',
    'created_by',
    'version',
    'status',
    'hash',
  ]
  for (const field of fields) {
    const asking = { body: { name: 'b', [field]: ['a1'] } }
    const patched = await world.request('PATCH', `/v1/keys/${id}`, asking)
    t.equal(told(patched), '400 invalid_request', field)
    t.match(patched.body, { error: { errors: [{ location: `body.${field}` }] } })
    if (field === 'apps') continue
    const body = { name: 'b', scopes: ['apps:read'], [field]: 'a1' }
    t.equal(told(await world.request('POST', '/v1/keys', { body })), '400 invalid_request', field)
  }
  t.equal(await patch(world, id, {}), '400 invalid_request')
  t.same((await world.request('GET', `/v1/keys/${id}`)).body, before.body)
})

await t.test(
  'an expiry lies in the future and is RFC 3339, and a key only shortens its own',
  async (t) => {
    const world = await keysWorld(t)
    const at = (ms: number): string => toIso(START + ms)
    const wrong = [
      '2031',
      '2031-01-01',
      1e15,
      START + HOUR,
      true,
      '',
      '2031-01-01T00:00:00',
      at(0),
      at(-1),
    ]
    const { id, key } = await world.mintKey({ scopes: ['keys:*'] })
    for (const expires_at of wrong) {
      const body = { name: 'a', scopes: ['apps:read'], expires_at }
      const minted = await world.request('POST', '/v1/keys', { body })
      t.equal(told(minted), '400 invalid_request', `case 29: ${expires_at}`)
      t.match(minted.body, { error: { errors: [{ location: 'body.expires_at' }] } })
      t.equal(
        await patch(world, id, { expires_at }),
        '400 invalid_request',
        `case 29: ${expires_at}`,
      )
    }
    t.equal(await patch(world, id, { expires_at: null }, key), '200', 'null is what it has')
    t.equal(await patch(world, id, { expires_at: at(2 * HOUR) }, key), '200')
    t.equal(await patch(world, id, { expires_at: at(HOUR) }, key), '200', 'case 27: sooner')
    const beyond = '403 expiry_extension_forbidden'
    t.equal(await patch(world, id, { expires_at: at(HOUR + 1) }, key), beyond, 'case 27: later')
    t.equal(await patch(world, id, { expires_at: null }, key), beyond, 'case 27: null')
    t.equal(await patch(world, id, { expires_at: '2030-01-31T14:00:00.5+01:00' }), '200')
    t.match((await world.request('GET', `/v1/keys/${id}`)).body, { expires_at: at(HOUR + 500) })

    await world.clock.advance(HOUR + 499)
    t.equal(await standing(world, key), '200')
    await world.clock.advance(1)
    t.equal(await standing(world, key), '401 key_expired', 'case 30')
    t.match((await world.request('GET', `/v1/keys/${id}`)).body, { status: 'expired' })
    t.equal(await patch(world, id, { expires_at: null }), '409 key_not_active', 'case 28')
    t.equal(told(await world.request('POST', `/v1/keys/${id}/rotate`)), '409 key_not_active')
    t.same((await world.request('GET', '/v1/keys')).body['data'], [])
  },
)

await t.test('on the free plan no key is created, and those that exist work on', async (t) => {
  const world = await keysWorld(t)
  const { id, key } = await world.mintKey({ scopes: ['keys:*'] })
  await world.platform.store.write((tx) => tx.accounts.setPlan(world.account.id, 'free', START))
  for (const as of [world.user, key]) {
    const body = { name: 'a', scopes: ['keys:read'] }
    t.equal(told(await world.request('POST', '/v1/keys', { as, body })), '403 dev_api_not_enabled')
  }
  t.equal(await patch(world, id, { name: 'b' }, key), '200')
  t.equal(await standing(world, await rotate(world, id, { as: key })), '200')
})

await t.test('an account holds at most 100 live keys, which are listed page by page', async (t) => {
  const world = await keysWorld(t)
  const made: string[] = []
  for (let count = 0; count < 100; count += 1) {
    made.push((await world.mintKey({ scopes: ['apps:read'] })).id)
  }
  const body = { name: 'a', scopes: ['apps:read'] }
  const create = (as: Asker): Promise<string> =>
    world.request('POST', '/v1/keys', { as, body }).then(told)
  t.equal(await create(world.user), '409 key_limit_reached')
  t.equal(await create(world.userOf(await world.addAccount())), '201')

  const listed: string[] = []
  for (let cursor = ''; ;) {
    const page = await world.request<Page<MintedKey>>('GET', `/v1/keys?limit=30${cursor}`)
    listed.push(...page.body.data.map(({ id }) => id))
    t.equal(page.body.has_more, page.body.next_cursor !== null)
    if (page.body.next_cursor === null) break
    cursor = `&cursor=${page.body.next_cursor}`
    const other = await world.request('GET', `/v1/keys?status=all${cursor}`)
    t.equal(told(other), '400 invalid_cursor', 'under other filters')
  }
  t.same(listed, made.reverse(), 'newest first, each once')
  await world.request('DELETE', `/v1/keys/${made[7] ?? ''}`)
  t.equal(await create(world.user), '201', 'a revoked key makes room')
})

await t.test(
  'a key of another account does not exist, and the scope is judged before',
  async (t) => {
    const world = await keysWorld(t)
    const stranger = world.userOf(await world.addAccount())
    const theirs = await world.mintKey({ scopes: ['apps:read'] }, stranger)
    const { key } = await world.mintKey({ scopes: ['*:*'] })
    const weak = await world.mintKey({ scopes: ['apps:read'] })
    const unknown = theirs.id.replace(/.{4}$/, '0000')
    const answerTo = async (
      as: string,
      method: string,
      id: string,
      tail: string,
    ): Promise<AnyBody & { readonly told: string }> => {
      const asking = { as, ...(method === 'PATCH' ? { body: { name: 'b' } } : {}) }
      const answer = await world.request(method, `/v1/keys/${id}${tail}`, asking)
      const error = { ...(answer.body['error'] as AnyBody), request_id: null }
      return { told: told(answer), ...error }
    }
    const asks = [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/rotate'],
      ['DELETE', '/previous'],
    ] as const
    for (const [method, tail] of asks) {
      const foreign = await answerTo(key, method, theirs.id, tail)
      t.equal(foreign.told, '404 key_not_found', `case 33: ${method} ${tail}`)
      for (const id of [unknown, 'x', '%00', '%25', 'self%20', '..%2f']) {
        t.same(await answerTo(key, method, id, tail), foreign, `${method} ${id}${tail}`)
      }
      const scopeless = await answerTo(weak.key, method, theirs.id, tail)
      t.equal(scopeless.told, '403 insufficient_scope')
      t.same(await answerTo(weak.key, method, unknown, tail), scopeless)
    }
    t.equal(await standing(world, theirs.key), '200')
  },
)

await t.test('a key is told about itself, and nobody else has a self', async (t) => {
  const world = await keysWorld(t)
  const { id, key } = await world.mintKey({ scopes: ['observe:read'], apps: ['a1'] })
  t.match(await world.request('GET', '/v1/keys/self', { as: key }), {
    status: 200,
    body: {
      id,
      account_id: world.account.id,
      effective_scopes: ['observe:read'],
      effective_apps: ['a1'],
      effective_expires_at: null,
    },
  })
  t.equal(told(await world.request('GET', '/v1/keys/self')), '403 key_required')
  const none = await world.request('GET', '/v1/keys/self', { as: null })
  t.equal(told(none), '401 missing_credentials')
  t.equal(told(await world.request('DELETE', '/v1/keys/self')), '404 key_not_found')
})
