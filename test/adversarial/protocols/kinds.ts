import { FAMILIES } from '../../../daemon/families/index.ts'
import type { UserPrincipal } from '../../../daemon/authority/principal.ts'
import { mintToken } from '../../../lib/key/token.ts'
import { DEFAULT_KEY_PREFIX } from '../../support/key-prefix.ts'
import type { MintedKey, World } from '../../support/world.ts'

/** An account in which keys are minted. */
export interface Ground {
  readonly world: World
  readonly user: UserPrincipal
  /** Its apps. */
  readonly app: string
  readonly otherApp: string
}

/** Mints a key of one kind, and returns the value that asks. */
type Mint = (ground: Ground) => Promise<string>

const mint = (
  { world, user }: Ground,
  scopes: readonly string[],
  more: { readonly apps?: readonly string[] } = {},
): Promise<MintedKey> => world.mintKey({ scopes, ...more }, user)

const plain =
  (...scopes: readonly string[]): Mint =>
  async (ground) =>
    (await mint(ground, scopes)).key

const below = async (
  { world }: Ground,
  parent: MintedKey,
  scopes: readonly string[],
  apps?: readonly string[],
): Promise<MintedKey> => world.mintKey({ scopes, ...(apps && { apps }) }, parent.key)

async function change(
  { world, user }: Ground,
  method: string,
  path: string,
  body?: unknown,
): Promise<Readonly<Record<string, unknown>>> {
  const answer = await world.request(method, `/v1/keys/${path}`, { as: user, body })
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

const SCOPES = FAMILIES.flatMap(({ scopes }) =>
  Object.entries(scopes).flatMap(([family, actions]) => [
    `${family}:*`,
    ...actions.map((action) => `${family}:${action}`),
  ]),
)

/** Keys of every kind, by name. */
export const KINDS: Readonly<Record<string, Mint>> = {
  ...Object.fromEntries([...SCOPES, '*:read', '*:*'].map((scope) => [scope, plain(scope)])),
  async 'pinned to the app'(ground) {
    return (await mint(ground, ['*:*'], { apps: [ground.app] })).key
  },
  async 'pinned to another app'(ground) {
    return (await mint(ground, ['*:*'], { apps: [ground.otherApp] })).key
  },
  async 'pinned, of one scope'(ground) {
    return (await mint(ground, ['edits:write'], { apps: [ground.app] })).key
  },
  async expired(ground) {
    const { id, key } = await mint(ground, ['*:*'])
    const { store, clock } = ground.world.platform
    const row = await store.keys.get(ground.user.account_id, id)
    if (row === undefined) throw new Error('no such key')
    const now = clock.now()
    await store.write((tx) => tx.keys.update(row, { expires_at: now - 1 }, now))
    return key
  },
  async revoked(ground) {
    const { id, key } = await mint(ground, ['*:*'])
    await change(ground, 'DELETE', id)
    return key
  },
  async 'replaced, in its grace'(ground) {
    const { id, key } = await mint(ground, ['*:*'])
    await change(ground, 'POST', `${id}/rotate`)
    return key
  },
  async 'replaced, after its grace'(ground) {
    const { id, key } = await mint(ground, ['*:*'])
    await change(ground, 'POST', `${id}/rotate`, { grace_seconds: 0 })
    return key
  },
  async 'the newer value'(ground) {
    const { id } = await mint(ground, ['apps:*', 'edits:*'])
    return String((await change(ground, 'POST', `${id}/rotate`))['key'])
  },
  async 'a child'(ground) {
    const parent = await mint(ground, ['*:*'])
    return (await below(ground, parent, ['apps:*', 'edits:read', 'files:write'], [ground.app])).key
  },
  async 'a child whose parent was narrowed'(ground) {
    const parent = await mint(ground, ['*:*'])
    const child = await below(ground, parent, ['*:*'])
    await change(ground, 'PATCH', parent.id, { scopes: ['apps:read', 'edits:*'] })
    return child.key
  },
  async 'a child of a revoked key'(ground) {
    const parent = await mint(ground, ['*:*'])
    const child = await below(ground, parent, ['*:*'])
    await change(ground, 'DELETE', parent.id)
    return child.key
  },
  'nobody knows': async () =>
    mintToken(DEFAULT_KEY_PREFIX, (length) => new Uint8Array(length).fill(7)).value,
  'no key at all': async () => 'Bearer',
}
