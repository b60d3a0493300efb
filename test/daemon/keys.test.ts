import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { DAY, toIso } from '../../lib/time.ts'
import { START, keysWorld, patch, rotate, standing, told } from '../support/keys-world.ts'
import type { Page } from '../support/webhooks.ts'
import type { AnyBody, Asker, Asking, MintedKey } from '../support/world.ts'

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
    monthly_budget_micros: null,
    created_by: { type: 'user', id: world.user.user_id },
    created_at: toIso(START),
    updated_at: toIso(START),
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
    previous_valid_until: null,
    previous_values: [],
  })

  const replayed = await world.request('POST', '/v1/keys', asking)
  t.equal(replayed.status, 201)
  t.equal(replayed.headers.get('idempotency-replayed'), 'true')
  t.same(replayed.body, { ...record, key: null }, 'a replay shows null')
  const shown = {
    ...record,
    webhooks: [],
    webhooks_total: 0,
    effective_scopes: ['apps:*', 'keys:*'],
    effective_apps: ['a', 'b'],
    effective_expires_at: null,
    ancestors: [],
  }
  t.same((await world.request('GET', `/v1/keys/${record.id}`)).body, shown)
  t.same((await world.request('GET', '/v1/keys')).body['data'], [record])
  const self = await world.request('GET', '/v1/keys/self', { as: key })
  t.match(self, { status: 200, body: { ...record, last_used_at: /Z$/ } })
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
  const refused = await world.request('POST', '/v1/keys', { as: world.user, body })
  t.match(refused.body, {
    error: {
      message: /its limit of 100 live keys\. Revoke one first, or ask the operator to raise/,
      details: { limit: 'live_keys_per_account', maximum: 100 },
    },
  })
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
  t.equal(told(await world.request('DELETE', '/v1/keys/self')), '405 method_not_allowed')
  const byName = await world.request('DELETE', '/v1/keys/CI')
  const message = /A key is named by its id, not by its name or value; GET \/v1\/keys lists the ids/
  t.match(byName, { status: 404, body: { error: { code: 'key_not_found', message } } })
})
