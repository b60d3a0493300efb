import { HOUR, toIso } from '../../lib/time.ts'
import type { Site } from './attack.ts'
import { APPS } from './reach.ts'
import type { SeededRandom } from './seeded-random.ts'
import type { MintedKey } from './world.ts'

type Headers = Readonly<Record<string, string>>

/** Who and what an attack begins with. */
export interface Cast {
  readonly accountId: string
  /** What the owner's calls bear. */
  readonly owner: Headers
  readonly attacker: MintedKey
  /** What the attacker's key was given. */
  readonly scopes: readonly string[]
  /** The ids of the attacker's key and of those above it. */
  readonly line: readonly [string, ...string[]]
  /** A key of another account. */
  readonly foreignKeyId: string
}

const SCOPES: readonly string[] = [
  'apps:*',
  'deploy:write',
  'events:*',
  'files:read',
  'keys:*',
  'keys:read',
  'webhooks:*',
  '*:read',
  '*:*',
]
const OTHER_KEYS = 4

/** An account with a line of three keys, the attacker's the last, beside others of every strength. */
export async function castAttack(
  { ask, clock, platform, operatorToken }: Site,
  random: SeededRandom,
): Promise<Cast> {
  const operator = { authorization: `Bearer ${operatorToken}` }

  async function send<Body>(path: string, body: object, headers: Headers): Promise<Body> {
    const { status, text } = await ask({
      method: 'POST',
      path,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (status !== 201) throw new Error(`${path}: ${text}`)
    return JSON.parse(text) as Body
  }

  async function openAccount(): Promise<{ readonly id: string; readonly owner: Headers }> {
    const { id } = await send<{ id: string }>('/v1/accounts', { name: 'An account' }, operator)
    return { id, owner: { ...operator, 'keyhook-account': id } }
  }

  const mint = (headers: Headers, scopes: readonly string[], bounds = {}): Promise<MintedKey> =>
    send('/v1/keys', { name: 'a key', scopes, ...bounds }, headers)
  const holder = ({ key }: MintedKey): Headers => ({ authorization: `Bearer ${key}` })

  function drawBounds(): { readonly apps?: readonly string[]; readonly expires_at?: string } {
    const apps = random.oneIn(2) ? [] : random.subset(APPS)
    const end = toIso(clock.now() + HOUR + random.below(8 * HOUR))
    return {
      ...(apps.length === 0 ? {} : { apps }),
      ...(random.oneIn(2) ? {} : { expires_at: end }),
    }
  }

  const { id: accountId, owner } = await openAccount()
  await platform.store.write((tx) =>
    tx.events.putType({
      account_id: accountId,
      type: 'order.paid',
      description: null,
      schema: null,
      sample: null,
      created_at: clock.now(),
      updated_at: clock.now(),
    }),
  )
  const root = await mint(owner, ['*:*'], drawBounds())
  const parent = await mint(holder(root), ['*:*'])
  const scopes = ['keys:write', ...random.subset(SCOPES)]
  const attacker = await mint(holder(parent), scopes)
  for (let made = 0; made < OTHER_KEYS; made += 1) {
    // Half of them hold no scope that the attacker lacks: what bounds it there is pins and expiry.
    const from = random.oneIn(2) ? scopes : SCOPES
    await mint(owner, [random.pickAny(from) ?? 'keys:write', ...random.subset(from)], drawBounds())
  }
  const foreign = await mint((await openAccount()).owner, ['keys:read'])
  return {
    accountId,
    owner,
    attacker,
    scopes,
    line: [attacker.id, parent.id, root.id],
    foreignKeyId: foreign.id,
  }
}
