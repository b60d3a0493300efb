import t from 'tap'
import type { KeyPrincipal } from '../../daemon/authority/principal.ts'
import { HOUR, toIso } from '../../lib/time.ts'
import { START, keysWorld, mint, standing, told } from '../support/keys-world.ts'
import type { Answer, AnyBody, MintedKey, World } from '../support/world.ts'

const BEYOND = '403 scope_not_delegable'

/** The key as its verifier sees it now, to ask with later, when it may be outdated. */
async function principalOf({ platform }: World, value: string): Promise<KeyPrincipal> {
  const verified = await platform.verifier.verify(value)
  return { type: 'key', account_id: verified.key.account_id, ...verified }
}

await t.test('revoking a key ends everything below it at once, though cached', async (t) => {
  for (const revoked of [0, 1]) {
    const world = await keysWorld(t)
    const scopes = ['apps:read', 'keys:write']
    const root = await world.mintKey({ scopes })
    const child = await world.mintKey({ scopes }, root.key)
    const grandchild = await world.mintKey({ scopes }, child.key)
    const sibling = await world.mintKey({ scopes }, root.key)
    const rotated = await world.request<MintedKey>('POST', `/v1/keys/${grandchild.id}/rotate`)
    const below = [child.key, grandchild.key, rotated.body.key]
    for (const value of [root.key, sibling.key, ...below]) {
      t.equal(await standing(world, value), '200')
    }
    const target = revoked === 0 ? root : child
    t.equal(told(await world.request('DELETE', `/v1/keys/${target.id}`)), '200')
    for (const value of below) t.equal(await standing(world, value), '401 key_revoked')
    const spared = revoked === 0 ? '401 key_revoked' : '200'
    t.equal(await standing(world, root.key), spared)
    t.equal(await standing(world, sibling.key), spared)
    const forged = rotated.body.key.slice(0, -1).concat(rotated.body.key.endsWith('0') ? '1' : '0')
    t.equal(await standing(world, forged), '401 invalid_key', 'case 52')
    const path = `/v1/keys/${grandchild.id}`
    t.equal(told(await world.request('POST', `${path}/rotate`)), '409 key_not_active')
    const renamed = await world.request('PATCH', path, { body: { name: 'b' } })
    t.equal(told(renamed), '409 key_not_active', 'what is dead with its ancestor stays so')
  }
})

await t.test('narrowing a parent narrows its children at once, though cached', async (t) => {
  const world = await keysWorld(t)
  const parent = await world.mintKey({ scopes: ['keys:*', 'events:*'] })
  const child = await world.mintKey({ scopes: ['keys:*', 'events:read'] }, parent.key)
  const list = (): Promise<string> => world.request('GET', '/v1/keys', { as: child.key }).then(told)
  t.equal(await list(), '200')
  const body = { scopes: ['keys:write', 'events:*'] }
  const narrowed = await world.request('PATCH', `/v1/keys/${parent.id}`, { body })
  t.equal(told(narrowed), '200')
  t.equal(await list(), '403 insufficient_scope')
  t.match((await world.request('GET', '/v1/keys/self', { as: child.key })).body, {
    scopes: ['events:read', 'keys:*'],
    effective_scopes: ['events:read', 'keys:write'],
  })
  t.equal(told(await mint(world, child.key, { scopes: ['keys:read'] })), BEYOND)
  t.equal(told(await mint(world, child.key, { scopes: ['events:read'] })), '201')
})

await t.test('a key manages those whose scopes and pins lie within its own', async (t) => {
  const world = await keysWorld(t)
  const ask = async (as: string, id: string): Promise<string[]> => {
    const path = `/v1/keys/${id}`
    const answers = [
      await world.request('PATCH', path, { as, body: { name: 'b' } }),
      await world.request('POST', `${path}/rotate`, { as }),
      await world.request('DELETE', `${path}/previous`, { as }),
      await world.request('DELETE', path, { as }),
    ]
    return answers.map(told)
  }
  const beyond = Array<string>(4).fill('403 key_not_managed')
  const actor = await world.mintKey({ scopes: ['apps:read', 'keys:write'] })
  const mighty = await world.mintKey({ scopes: ['*:*'] })
  t.same(await ask(actor.key, mighty.id), beyond, 'case 31')
  t.equal(await standing(world, mighty.key), '200')

  const weaker = await world.mintKey({ scopes: ['apps:read', 'keys:write'] }, mighty.key)
  t.same(await ask(weaker.key, mighty.id), beyond, 'case 50: not its parent, which holds more')
  const uncle = await world.mintKey({ scopes: ['apps:*'] }, mighty.key)
  t.same(await ask(weaker.key, uncle.id), beyond, 'case 50: nor an uncle that holds more')
  const below = await world.mintKey({ scopes: ['apps:read'], apps: ['a1'] }, actor.key)
  t.same(await ask(actor.key, below.id), ['200', '201', '200', '200'], 'what it minted')

  const beside = await world.mintKey({ scopes: ['apps:read', 'keys:write'] })
  t.same(
    await ask(actor.key, beside.id),
    ['200', '403 key_not_managed', '409 no_previous_value', '200'],
    'a value that outlives the actor is handed to nobody',
  )
  const brief = await mint(world, world.user, {
    scopes: ['apps:read'],
    expires_at: toIso(START + HOUR),
  })
  const later = { expires_at: toIso(START + 2 * HOUR) }
  const prolonged = await world.request('PATCH', `/v1/keys/${brief.body.id}`, {
    as: actor.key,
    body: later,
  })
  t.equal(told(prolonged), '403 key_not_managed', 'and no life beside it is prolonged')
})

await t.test(
  'case 44: what is changed is judged anew, never by an outdated principal',
  async (t) => {
    const world = await keysWorld(t)
    const scopes = ['apps:*', 'keys:*']
    const parent = await world.mintKey({ scopes })
    const child = await world.mintKey({ scopes }, parent.key)
    const target = await world.mintKey({ scopes: ['apps:read'] })
    const as = await principalOf(world, child.key)
    const ask = async (): Promise<string[]> => {
      const path = `/v1/keys/${target.id}`
      const answers = [
        await mint(world, as, { scopes: ['apps:write'] }),
        await world.request('PATCH', path, { as, body: { name: 'b' } }),
        await world.request('POST', `${path}/rotate`, { as }),
        await world.request('POST', `/v1/keys/${child.id}/rotate`, { as }),
      ]
      return answers.map(told)
    }
    const narrower = { scopes: ['apps:read', 'keys:*'] }
    await world.request('PATCH', `/v1/keys/${parent.id}`, { body: narrower })
    const minted = await mint(world, as, { scopes: ['apps:write'] })
    t.equal(told(minted), BEYOND, 'a narrowed parent')
    await world.request('POST', `/v1/keys/${child.id}/rotate`)
    t.same(await ask(), Array<string>(4).fill('403 previous_value_restricted'), 'a replaced value')
    await world.request('DELETE', `/v1/keys/${parent.id}`)
    t.same(await ask(), Array<string>(4).fill('401 key_revoked'), 'a revoked parent')
    const revoking = await world.request('DELETE', `/v1/keys/${target.id}`, { as })
    t.equal(told(revoking), '401 key_revoked')
    t.match(await world.request('GET', `/v1/keys/${target.id}`), { body: { status: 'active' } })
  },
)

await t.test('cases 39 and 40: a revocation beside a mint leaves no live key', async (t) => {
  const world = await keysWorld(t)
  const scopes = ['keys:write']
  for (let round = 0; round < 24; round += 1) {
    const root = await world.mintKey({ scopes })
    const child = await world.mintKey({ scopes }, root.key)
    const minter = round % 2 === 0 ? child : await world.mintKey({ scopes }, child.key)
    if (round % 3 === 0) await standing(world, minter.key)
    const revoking = (): Promise<string> =>
      world.request('DELETE', `/v1/keys/${root.id}`).then(told)
    const minting = (): Promise<Answer<MintedKey & AnyBody>> => mint(world, minter.key, { scopes })
    const [minted, revoked] =
      round % 4 < 2
        ? await Promise.all([minting(), revoking()])
        : await Promise.all([revoking(), minting()]).then(([first, then]) => [then, first] as const)
    t.equal(revoked, '200')
    if (minted.status === 201) t.equal(await standing(world, minted.body.key), '401 key_revoked')
    else t.equal(told(minted), '401 key_revoked')
    t.equal(await standing(world, minter.key), '401 key_revoked')
    t.equal(told(await minting()), '401 key_revoked')
  }
})

await t.test('case 41: whoever revokes, the key is revoked', async (t) => {
  const world = await keysWorld(t)
  const scopes = ['apps:read', 'keys:write']
  const manager = await world.mintKey({ scopes })
  for (const actor of ['user', 'operator', 'key', 'parent', 'itself'] as const) {
    const parent = await world.mintKey({ scopes })
    const { id, key } = await world.mintKey({ scopes }, parent.key)
    const child = await world.mintKey({ scopes }, key)
    const as = {
      user: world.user,
      operator: world.operator,
      key: manager.key,
      parent: parent.key,
      itself: key,
    }[actor]
    t.equal(await standing(world, child.key), '200')
    t.equal(told(await world.request('DELETE', `/v1/keys/${id}`, { as })), '200', actor)
    t.equal(await standing(world, key), '401 key_revoked', actor)
    t.equal(await standing(world, child.key), '401 key_revoked', actor)
    t.equal(await standing(world, parent.key), '200', actor)
  }
})

await t.test('case 49: who made a key adds nothing to it', async (t) => {
  const world = await keysWorld(t)
  for (const as of [world.user, world.operator]) {
    const { key } = await world.mintKey({ scopes: ['keys:read'] }, as)
    t.equal(told(await mint(world, key, { scopes: ['keys:read'] })), '403 insufficient_scope')
    t.equal(told(await world.request('GET', '/v1/webhooks', { as: key })), '403 insufficient_scope')
    t.equal(told(await world.request('GET', '/v1/keys', { as: key })), '200')
  }
})
