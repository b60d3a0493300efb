import t from 'tap'
import { HOUR, SECOND, toIso } from '../../lib/time.ts'
import { START, keysWorld, patch, standing, told } from '../support/keys-world.ts'
import type { Page } from '../support/webhooks.ts'
import type { Asker, MintedKey } from '../support/world.ts'

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
