import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createAccountsFamily } from '../../daemon/families/accounts/family.ts'
import { LEASE } from '../../lib/engine/lease.ts'
import type { VirtualClock } from '../support/clock.ts'
import { createClock } from '../support/clock.ts'
import { told } from '../support/keys-world.ts'
import type { AnyBody, Asker, MintedKey, World } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

interface Lease extends AnyBody {
  readonly position: string
  readonly reset: boolean
  readonly changes: readonly { readonly kind: string; readonly id: string }[]
}

interface Stage {
  readonly world: World
  readonly clock: VirtualClock
  mint(given?: AnyBody, as?: Asker): Promise<MintedKey>
  renew(cache_id: string, applied: string | null, as: Asker): Promise<Lease>
  verify(key: string, cache_id: string, as: Asker): Promise<AnyBody>
}

async function open(t: Parameters<typeof createWorld>[0]): Promise<Stage> {
  const clock = createClock(Date.UTC(2026, 0, 31))
  const world = await createWorld(t, { clock, families: [createAccountsFamily()] })
  const post = async <Body extends AnyBody>(path: string, body: AnyBody, as: Asker) => {
    const answer = await world.request<Body>('POST', path, { as, body })
    if (answer.status >= 300) throw new Error(told(answer))
    return answer.body
  }
  return {
    world,
    clock,
    mint: (given = {}, as = world.user) =>
      post<MintedKey & AnyBody>('/v1/keys', { name: 'a key', scopes: ['*:*'], ...given }, as),
    renew: (cache_id, applied, as) => post('/v1/keys/caches', { cache_id, applied }, as),
    verify: (key, cache_id, as) => post('/v1/keys/verify', { key, cache_id }, as),
  }
}

await t.test('a revocation is answered once the cache has dropped the key', async (t) => {
  const { world, clock, mint, renew, verify } = await open(t)
  const operator = world.operatorFor(null)
  const cache = randomUUID()
  const parent = await mint()
  const child = await mint({ name: 'below' }, parent.key)
  t.match(await verify(child.key, cache, operator), { valid: true, cache: null }, 'without a lease')
  const { position } = await renew(cache, null, operator)
  t.match(await verify(child.key, cache, operator), {
    valid: true,
    cache: {
      position,
      depends_on: [world.account.id, parent.id, child.id],
      expires_in_ms: null,
    },
  })

  let isAnswered = false
  const revoked = world.request('DELETE', `/v1/keys/${parent.id}`).then((answer) => {
    isAnswered = true
    return answer
  })
  let renewed = await renew(cache, position, operator)
  while (renewed.changes.length === 0) renewed = await renew(cache, position, operator)
  t.match(renewed.changes, [{ kind: 'key', id: parent.id }])
  t.notOk(isAnswered)
  t.match(await verify(child.key, cache, operator), { valid: false, cache: null })
  t.match(await renew(cache, renewed.position, operator), { changes: [], reset: false })
  t.equal((await revoked).status, 200)

  const next = await mint({ expires_at: new Date(clock.now() + 5000).toISOString() })
  t.match(await verify(next.key, cache, operator), { cache: { expires_in_ms: 5000 } })
})

await t.test(
  'a cache that says nothing delays a change by one lease, and nobody else',
  async (t) => {
    const { world, clock, mint, renew } = await open(t)
    const cache = randomUUID()
    await renew(cache, null, world.user)
    const keys = await Promise.all(Array.from({ length: 12 }, () => mint()))
    let answered = 0
    const revoked = keys.map(async ({ id }) => {
      await world.request('DELETE', `/v1/keys/${id}`)
      answered += 1
    })
    const { body: other } = await world.request('POST', '/v1/accounts', {
      as: world.operatorFor(null),
      body: { name: 'Another' },
    })
    const theirs = world.operatorFor({ id: String(other['id']) })
    const key = await mint({}, theirs)
    t.equal((await world.request('DELETE', `/v1/keys/${key.id}`, { as: theirs })).status, 200)
    t.equal(answered, 0, 'those of the account wait, and hold nobody up')
    await clock.advance(LEASE)
    await Promise.all(revoked)
    t.equal(answered, keys.length)
  },
)

await t.test('a revocation that is repeated is answered no sooner', async (t) => {
  const { world, clock, mint, renew } = await open(t)
  const { position } = await renew(randomUUID(), null, world.user)
  t.ok(position)
  const { id } = await mint()
  let answered = 0
  const ask = async (headers = {}) => {
    await world.request('DELETE', `/v1/keys/${id}`, { headers })
    answered += 1
  }
  const first = ask({ 'idempotency-key': 'one' })
  await clock.advance(10)
  const others = [ask(), ask({ 'idempotency-key': 'one' })]
  await clock.advance(LEASE - 20)
  t.equal(answered, 0)
  await clock.advance(20)
  await Promise.all([first, ...others])
  t.equal(answered, 3)
})

await t.test('a key caches keys of its account', async (t) => {
  const { world, mint, renew, verify } = await open(t)
  const cache = randomUUID()
  const holder = await mint({ scopes: ['keys:read'] })
  const { position } = await renew(cache, null, holder.key)
  const key = await mint()
  t.match(await verify(key.key, cache, holder.key), { valid: true, cache: { position } })

  const { body: other } = await world.request('POST', '/v1/accounts', {
    as: world.operatorFor(null),
    body: { name: 'Another' },
  })
  const theirs = world.operatorFor({ id: String(other['id']) })
  const foreign = await mint({}, theirs)
  const answer = await verify(foreign.key, cache, holder.key)
  t.match(answer, { valid: false, code: 'invalid_key', key_id: null, account_id: null })
  // The operator sees it, and still may not keep it in a cache that does not learn of its changes.
  const own = world.operatorFor(world.account)
  const seen = await verify(foreign.key, cache, own)
  t.match(seen, { valid: true, cache: null })
  t.match(await verify(key.key, cache, own), { cache: { position } }, 'the account is the holder')
  t.match(
    await verify(key.key, cache, theirs),
    { cache: null },
    'another account has no such cache',
  )
  await world.request('DELETE', `/v1/keys/${foreign.id}`, { as: theirs })
  t.match(await renew(cache, position, holder.key), { changes: [], position })
})

await t.test('whoever may not read all keys of an account caches none', async (t) => {
  const { world, mint, renew } = await open(t)
  const asking = { cache_id: randomUUID(), applied: null }
  const ask = async (as: Asker) =>
    told(await world.request('POST', '/v1/keys/caches', { as, body: asking }))
  t.equal(await ask((await mint({ scopes: ['apps:*'] })).key), '403 insufficient_scope')
  t.equal(await ask((await mint({ apps: ['a1'] })).key), '403 key_pinned')
  t.equal(await ask(null), '401 missing_credentials')
  for (let count = 0; count < 4; count += 1) await renew(randomUUID(), null, world.user)
  t.equal(await ask(world.user), '409 key_cache_limit_reached')
  t.equal(await ask(world.operatorFor(null)), '200')
  const path = `/v1/keys/caches?cache_id=${asking.cache_id}`
  const ended = await world.request('DELETE', path, { as: world.operatorFor(null) })
  t.equal(told(ended), '200')
})

await t.test('changes are told to who follows, until the lease ends', async (t) => {
  const { world, mint, renew } = await open(t)
  const cache_id = randomUUID()
  const { position } = await renew(cache_id, null, world.user)
  const reader = await mint({ scopes: ['keys:read'] })
  const key = await mint()
  const followed = await fetch(`${world.baseUrl}/v1/keys/caches?cache_id=${cache_id}`, {
    headers: { authorization: `Bearer ${reader.key}` },
  })
  const read = followed.body?.pipeThrough(new TextDecoderStream()).getReader()
  const next = async () => (await read?.read())?.value ?? ''
  const revoked = world.request('DELETE', `/v1/keys/${key.id}`)
  let text = ''
  while (!text.includes('event: changed')) text += await next()
  t.notOk(text.includes(position), 'it names the next position')
  const { changes, position: applied } = await renew(cache_id, position, world.user)
  t.match(changes, [{ id: key.id }])
  await renew(cache_id, applied, world.user)
  t.equal(told(await revoked), '200')
  await world.request('DELETE', `/v1/keys/caches?cache_id=${cache_id}`)
  while (!text.includes('event: end')) text += await next()
  t.match(text, /"position":null/)
})
