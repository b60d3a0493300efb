import t from 'tap'
import { createAccountsFamily } from '../../daemon/families/accounts/family.ts'
import { DAY, HOUR, toIso } from '../../lib/time.ts'
import { codeOf } from '../support/answer.ts'
import type { VirtualClock } from '../support/clock.ts'
import { createClock } from '../support/clock.ts'
import type { Answer, AnyBody, Asker, MintedKey, World } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

const START = Date.UTC(2026, 0, 31)

interface Bench {
  readonly world: World
  readonly clock: VirtualClock
  mint(given: AnyBody, as?: Asker): Promise<MintedKey>
  ask(body: unknown, as?: Asker): Promise<Answer<AnyBody>>
  /** `valid`, or the code of the refusal. */
  judge(key: string, need?: AnyBody): Promise<string>
}

async function open(t: Parameters<typeof createWorld>[0]): Promise<Bench> {
  const clock = createClock(START)
  const world = await createWorld(t, { clock, families: [createAccountsFamily()] })
  const ask: Bench['ask'] = (body, as = world.operatorFor(null)) =>
    world.request('POST', '/v1/keys/verify', { as, body })
  return {
    world,
    clock,
    ask,
    async mint(given, as = world.user) {
      const body = { name: 'a key', scopes: ['edits:*'], ...given }
      return (await world.request<MintedKey>('POST', '/v1/keys', { as, body })).body
    },
    async judge(key, need = {}) {
      const { status, body } = await ask({ key, ...need })
      if (status !== 200) throw new Error(JSON.stringify(body))
      return body['valid'] === true ? 'valid' : String(body['code'])
    },
  }
}

/** What is told of a value that is nobody's. */
const NOBODY = {
  key_id: null,
  account_id: null,
  name: null,
  scopes: null,
  apps: null,
  expires_at: null,
  value: null,
  cache: null,
}

await t.test('a key is answered with whose it is and what it may do right now', async (t) => {
  const { world, mint, ask, judge } = await open(t)
  const expires_at = toIso(START + DAY)
  const parent = await mint({ scopes: ['edits:*', 'keys:write'], apps: ['a2', 'a1'], expires_at })
  const child = await mint({ name: 'below', apps: ['a1'] }, parent.key)
  const whole = {
    valid: true,
    code: null,
    message: null,
    key_id: child.id,
    account_id: world.account.id,
    name: 'below',
    scopes: ['edits:*'],
    apps: ['a1'],
    expires_at,
    value: 'current',
    cache: null,
  }
  t.same((await ask({ key: child.key, scope: 'edits:write', app_id: 'a1' })).body, whole)
  const narrowed = { scopes: ['edits:read', 'keys:write'] }
  await world.request('PATCH', `/v1/keys/${parent.id}`, { body: narrowed })
  t.same((await ask({ key: child.key })).body, { ...whole, scopes: ['edits:read'] })
  t.equal(await judge(child.key, { scope: 'edits:write' }), 'insufficient_scope')
  t.match((await ask({ key: parent.key })).body, { apps: ['a1', 'a2'] })
})

await t.test(
  'every way in which a key is not valid has its code, and only a live one has an owner',
  async (t) => {
    const { world, clock, mint, ask, judge } = await open(t)
    const reader = await mint({ scopes: ['edits:read'], apps: ['a1'] })
    const expiring = await mint({ expires_at: toIso(START + HOUR) })
    const revoked = await mint({})
    t.equal(await judge(revoked.key), 'valid')
    await world.request('DELETE', `/v1/keys/${revoked.id}`)
    await clock.advance(HOUR)
    const wrongEnd = reader.key.slice(0, -1) + (reader.key.endsWith('0') ? '1' : '0')
    const whose = {
      key_id: reader.id,
      account_id: world.account.id,
      name: 'a key',
      scopes: ['edits:read'],
      apps: ['a1'],
      expires_at: null,
      value: 'current',
      cache: null,
    }
    for (const [asked, code, known] of [
      [{ key: '' }, 'invalid_key', NOBODY],
      [{ key: 'no key at all' }, 'invalid_key', NOBODY],
      [{ key: wrongEnd }, 'invalid_key', NOBODY],
      [{ key: ` ${reader.key}` }, 'invalid_key', NOBODY],
      [{ key: reader.id }, 'invalid_key', NOBODY],
      [{ key: `Bearer ${reader.key}` }, 'invalid_key', NOBODY],
      [{ key: expiring.key }, 'key_expired', NOBODY],
      [{ key: revoked.key }, 'key_revoked', NOBODY],
      [{ key: reader.key, scope: 'edits:write' }, 'insufficient_scope', whose],
      [{ key: reader.key, app_id: 'a2' }, 'app_not_found', whose],
      [{ key: reader.key, scope: 'edits:write', app_id: 'a2' }, 'insufficient_scope', whose],
    ] as const) {
      const { status, body } = await ask(asked)
      const { message, ...rest } = body
      t.equal(status, 200)
      t.same(rest, { valid: false, code, ...known }, code)
      t.match(message, /\.$/)
    }
    t.equal(await judge((await mint({})).key, { app_id: 'anything' }), 'valid', 'of every app')
  },
)

await t.test('what ends a key ends it for the next question', async (t) => {
  const { world, mint, judge } = await open(t)
  const parent = await mint({ scopes: ['edits:*', 'keys:write'] })
  const child = await mint({}, parent.key)
  t.equal(await judge(child.key), 'valid')
  await world.request('DELETE', `/v1/keys/${parent.id}`)
  t.equal(await judge(child.key), 'key_revoked', 'with the key above it')

  const { key } = await mint({})
  const path = `/v1/accounts/${world.account.id}`
  t.equal(await judge(key), 'valid')
  const as = world.operatorFor(null)
  await world.request('POST', `${path}/suspend`, { as })
  t.equal(await judge(key), 'account_suspended')
  await world.request('POST', `${path}/resume`, { as })
  t.equal(await judge(key), 'valid')
})

await t.test('the value that rotation left working is told apart', async (t) => {
  const { world, clock, mint, ask, judge } = await open(t)
  const { id, key } = await mint({})
  const rotate = async (seconds: number): Promise<string> => {
    const body = { grace_seconds: seconds }
    return (await world.request<MintedKey>('POST', `/v1/keys/${id}/rotate`, { body })).body.key
  }
  const second = await rotate(3600)
  t.match((await ask({ key })).body, { valid: true, key_id: id, value: 'previous' })
  t.match((await ask({ key: second })).body, { valid: true, key_id: id, value: 'current' })
  await clock.advance(HOUR)
  t.equal(await judge(key), 'key_rotated')
  const third = await rotate(0)
  t.equal(await judge(second), 'key_rotated', 'a grace of 0 ends it at once')
  t.equal(await judge(third), 'valid')
})

await t.test('up to a hundred are answered in one request, each by itself', async (t) => {
  const { mint, ask } = await open(t)
  const reader = await mint({ scopes: ['edits:read'] })
  const pinned = await mint({ apps: ['a1'] })
  const keys = [
    { key: reader.key, scope: 'edits:read' },
    { key: 'unknown' },
    { key: reader.key, scope: 'edits:write' },
    { key: pinned.key, app_id: 'a2' },
    { key: pinned.key, app_id: 'a1' },
  ]
  const { status, body } = await ask({ keys })
  t.equal(status, 200)
  t.match(body['data'], [
    { valid: true, key_id: reader.id },
    { valid: false, code: 'invalid_key' },
    { valid: false, code: 'insufficient_scope' },
    { valid: false, code: 'app_not_found' },
    { valid: true, key_id: pinned.id, apps: ['a1'] },
  ])
  const many = (count: number): unknown => ({ keys: Array(count).fill({ key: reader.key }) })
  t.equal(((await ask(many(100))).body['data'] as unknown[]).length, 100)
  for (const body of [many(101), many(0), {}, { key: 7 }, { key: 'x', keys: [{ key: 'x' }] }]) {
    t.equal(codeOf(await ask(body)), '400 invalid_request')
  }
})

await t.test('a scope that is none is the caller’s fault, not the key’s', async (t) => {
  const { mint, ask } = await open(t)
  const { key } = await mint({ scopes: ['*:*'] })
  for (const scope of [
    'edit:read',
    'edits:fly',
    'edits:*',
    '*:read',
    '*:*',
    'edits',
    'a:b:c',
    '',
  ]) {
    t.equal(codeOf(await ask({ key, scope })), '400 invalid_scope', scope)
    const batch = await ask({ keys: [{ key }, { key, scope }] })
    t.match(batch.body, { error: { errors: [{ location: 'body.keys[1].scope' }] } })
    const { scopes } = (batch.body['error'] as { details: { scopes: string[] } }).details
    t.ok(scopes.includes('edits:read'), 'every scope is named')
  }
})

await t.test('whoever may read all keys of an account verifies them', async (t) => {
  const { world, mint, ask } = await open(t)
  const { key } = await mint({ scopes: ['keys:read'] })
  const other = await mint({ scopes: ['edits:*'] })
  const pinned = await mint({ scopes: ['*:*'], apps: ['a1'] })
  t.match(await ask({ key: other.key }, key), { status: 200, body: { valid: true } })
  t.equal(codeOf(await ask({ key }, world.user)), '200')
  t.equal(codeOf(await ask({ key }, world.operator)), '200')
  t.equal(codeOf(await ask({ key }, other.key)), '403 insufficient_scope')
  t.equal(codeOf(await ask({ key }, pinned.key)), '403 key_pinned')
  t.equal(codeOf(await ask({ keys: [{ key }] }, key)), '403 operator_required', 'one at a time')
  t.equal(codeOf(await ask({ key }, null)), '401 missing_credentials')
})

await t.test('what cannot be known is no refusal: the whole request is 503', async (t) => {
  const { world, mint, ask, judge } = await open(t)
  const [cached, other] = [await mint({}), await mint({})]
  t.equal(await judge(cached.key), 'valid')
  const failing = t.capture(world.platform.store.keys, 'findChain', () =>
    Promise.reject(new Error('the disk is gone')),
  )
  t.equal(await judge(cached.key), 'valid', 'what is known is still answered')
  t.equal(codeOf(await ask({ key: other.key })), '503 unavailable')
  const batch = await ask({ keys: [{ key: cached.key }, { key: 'unknown' }, { key: other.key }] })
  t.equal(codeOf(batch), '503 unavailable')
  t.notMatch(JSON.stringify(batch.body), /valid"|disk/)
  failing.restore()
  t.equal(await judge(other.key), 'valid')
})

await t.test('a verdict is never answered from what an Idempotency-Key keeps', async (t) => {
  const world = await createWorld(t)
  const { id, key } = await world.mintKey({ scopes: ['apps:read'] })
  const asking = {
    as: world.operatorFor(null),
    body: { key },
    headers: { 'idempotency-key': 'the same' },
  }
  t.match((await world.request('POST', '/v1/keys/verify', asking)).body, { valid: true })
  await world.request('DELETE', `/v1/keys/${id}`)
  const after = await world.request('POST', '/v1/keys/verify', asking)
  t.match(after.body, { valid: false, code: 'key_revoked' })
})

await t.test('a scope that is none is a mistake of the caller, whatever the key is', async (t) => {
  const world = await createWorld(t)
  const body = { key: 'nobody', scope: 'pots:boil' }
  const answer = await world.request('POST', '/v1/keys/verify', {
    as: world.operatorFor(null),
    body,
  })
  t.match(answer, { status: 400, body: { error: { code: 'invalid_scope' } } })
})

await t.test('a whole Authorization header is refused with what to pass instead', async (t) => {
  const { mint, ask } = await open(t)
  const { key } = await mint({})
  for (const value of [`Bearer ${key}`, `bearer ${key}`, 'Bearer nothing']) {
    const refused = { valid: false, code: 'invalid_key', message: /pass the token alone/ }
    t.match(await ask({ key: value }), { status: 200, body: refused })
  }
  t.match((await ask({ key: 'a guess' })).body, { message: /copied whole/ })
})
