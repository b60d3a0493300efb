import { SPEC_SCOPES } from '../../lib/scope/syntax.ts'
import { DAY, HOUR, MINUTE, SECOND, toIso } from '../../lib/time.ts'
import { APPS } from './reach.ts'
import type { SeededRandom } from './seeded-random.ts'

/** A call that a random caller may make. */
export interface KeyCall {
  /** The operation's id; none for what no operation takes. */
  readonly operation: string
  readonly path: string
  readonly method: string
  readonly headers?: Readonly<Record<string, string>>
  /** The body's text. */
  readonly body?: string
}

/** What a caller knows, rightly or by guessing, when it makes up a call. */
export interface Knowledge {
  readonly random: SeededRandom
  readonly now: number
  readonly keyIds: readonly string[]
  /** Of the keys as they were when the caller last looked; Infinity for never. */
  readonly expiryOf: ReadonlyMap<string, number>
  readonly webhookIds: readonly string[]
  /** Scopes that the attack began with: near misses of a bound are likelier with them. */
  readonly scopes: readonly string[]
}

type Maker = (known: Knowledge) => KeyCall
/** How often, compared with the others of its table, and what. */
export type Choice = readonly [weight: number, make: Maker]

export function drawCall(table: readonly Choice[], known: Knowledge): KeyCall {
  const total = table.reduce((sum, [weight]) => sum + weight, 0)
  let left = known.random.below(total)
  for (const [weight, make] of table) {
    left -= weight
    if (left < 0) return make(known)
  }
  throw new TypeError('a table of calls must not be empty')
}

const EVERY_SCOPE: readonly string[] = [
  '*:*',
  '*:read',
  ...Object.entries(SPEC_SCOPES).flatMap(([family, actions]) =>
    ['*', ...actions].map((action) => `${family}:${action}`),
  ),
]
const NO_SCOPES: readonly [unknown, ...unknown[]] = [
  [],
  null,
  ['*'],
  ['*:write'],
  ['keys'],
  ['keys:read '],
  ['KEYS:READ'],
  ['keys:read', 7],
  [['*:*']],
  '*:*',
  { 0: '*:*', length: 1 },
]
const NO_APPS: readonly [unknown, ...unknown[]] = [null, [], ['*'], 'a1', [''], ['a1', null], true]
const NO_INSTANTS: readonly [unknown, ...unknown[]] = [
  '',
  'never',
  0,
  1e15,
  '2030-02-30T00:00:00Z',
  '+275760-09-13T00:00:00Z',
]
const NO_GRACE: readonly [unknown, ...unknown[]] = [-1, 86_401, 1.5, '60', null, 1e300, true]
const NO_ID: readonly [string, ...string[]] = [
  'none',
  '%00',
  '*',
  '%27%20OR%201%3D1--',
  '..%2Fself',
  '01890a5d-ac96-774b-bcce-b302099a8057',
]

export function drawScopes({ random, scopes }: Knowledge): unknown {
  if (random.oneIn(20)) return random.pick(NO_SCOPES)
  const from = random.oneIn(3)
    ? EVERY_SCOPE
    : [...scopes, ...random.subset(EVERY_SCOPE).slice(0, 1)]
  const drawn = random.subset(from).slice(0, 4)
  return drawn.length === 0 ? ['keys:write'] : drawn
}

function drawApps({ random }: Knowledge): unknown {
  if (random.oneIn(2)) return undefined
  return random.oneIn(8) ? random.pick(NO_APPS) : random.subset(APPS)
}

function drawExpiry({ random, now, keyIds, expiryOf }: Knowledge): unknown {
  if (random.oneIn(20)) return random.pick(NO_INSTANTS)
  if (random.oneIn(4)) return null
  const seen = expiryOf.get(random.pickAny(keyIds) ?? '') ?? Infinity
  if (seen < Infinity && random.oneIn(2)) return toIso(seen + random.below(5) - 2)
  return toIso(now + random.pick([-SECOND, SECOND, MINUTE, HOUR, DAY, 400 * DAY]))
}

function drawId({ random }: Knowledge, ids: readonly string[]): string {
  const id = random.oneIn(25) ? undefined : random.pickAny(ids)
  if (id === undefined) return random.pick(NO_ID)
  return random.oneIn(50) ? id.toUpperCase() : id
}

/** Sometimes one of a few keys, so that calls meet the answers of others. */
function withIdempotency({ random }: Knowledge, call: KeyCall): KeyCall {
  if (!random.oneIn(8)) return call
  return { ...call, headers: { 'idempotency-key': `again-${random.below(4)}` } }
}

const mint: Maker = (known) =>
  withIdempotency(known, {
    operation: 'keys.create',
    method: 'POST',
    path: '/v1/keys',
    body: JSON.stringify({
      name: 'a child',
      scopes: drawScopes(known),
      apps: drawApps(known),
      ...(known.random.oneIn(2) ? {} : { expires_at: drawExpiry(known) }),
    }),
  })

const rotate: Maker = (known) => {
  const { random } = known
  const graces = [undefined, 0, 1, 60, 3600, 86_400] as const
  const grace_seconds = random.oneIn(12) ? random.pick(NO_GRACE) : random.pick(graces)
  const more = random.oneIn(15) ? { scopes: drawScopes(known), expires_at: null } : {}
  return withIdempotency(known, {
    operation: 'keys.rotate',
    method: 'POST',
    path: `/v1/keys/${drawId(known, known.keyIds)}/rotate`,
    body: JSON.stringify({ grace_seconds, ...more }),
  })
}

const update =
  (changes: (known: Knowledge) => object): Maker =>
  (known) => ({
    operation: 'keys.update',
    method: 'PATCH',
    path: `/v1/keys/${drawId(known, known.keyIds)}`,
    body: JSON.stringify(changes(known)),
  })

const onKey =
  (operation: string, method: string, rest = ''): Maker =>
  (known) => ({ operation, method, path: `/v1/keys/${drawId(known, known.keyIds)}${rest}` })

const read =
  (operation: string, path: string): Maker =>
  () => ({ operation, method: 'GET', path })

const webhookApps = (known: Knowledge): unknown => (known.random.oneIn(4) ? null : drawApps(known))

const createWebhook: Maker = (known) => ({
  operation: 'webhooks.create',
  method: 'POST',
  path: '/v1/webhooks',
  body: JSON.stringify({
    url: 'http://127.0.0.1:9/',
    events: ['webhook.test'],
    apps: webhookApps(known),
  }),
})

const updateWebhook: Maker = (known) => ({
  operation: 'webhooks.update',
  method: 'PATCH',
  path: `/v1/webhooks/${drawId(known, known.webhookIds)}`,
  body: JSON.stringify({ description: 'moved', apps: webhookApps(known) }),
})

const publish: Maker = ({ random }) => ({
  operation: 'events.publish',
  method: 'POST',
  path: '/v1/events',
  body: JSON.stringify({
    type: 'order.paid',
    data: {},
    app_id: random.pick([undefined, ...APPS]),
  }),
})

/** Bodies that mean one thing to a careless reader and another to a careful one. */
const TWISTED: readonly [string, ...string[]] = [
  '{"name":"a","scopes":["keys:read"],"scopes":["*:*"]}',
  '{"name":"a","scopes":["*:*"],"scopes":["keys:read"]}',
  '{"name":"a","scopes":["keys:read"],"__proto__":{"scopes":["*:*"]}}',
  '{"name":"a","scopes":["keys:read"],"constructor":{"prototype":{"pins":"all"}}}',
  '{"name":"a","scopes":["keys:read"],"account_id":"other","parent_id":null,"depth":0}',
  '{"name":"a","scopes":["keys:read"],"pins":"all"}',
  '{"name":"a\\u0000","scopes":["keys:read"]}',
  '[{"name":"a","scopes":["*:*"]}]',
  '{"name":',
  '"*:*"',
]

const mintTwisted: Maker = ({ random }) => ({
  operation: 'keys.create',
  method: 'POST',
  path: '/v1/keys',
  body: random.pick(TWISTED),
})

/** What a holder of keys may try. */
export const ATTACKS: readonly Choice[] = [
  [16, mint],
  [8, mintTwisted],
  [9, rotate],
  [4, update((known) => ({ scopes: drawScopes(known) }))],
  [5, update((known) => ({ expires_at: drawExpiry(known) }))],
  [2, update((known) => ({ name: 'renamed', apps: drawApps(known) }))],
  [2, onKey('keys.end_previous', 'DELETE', '/previous')],
  [2, onKey('keys.revoke', 'DELETE')],
  [9, onKey('keys.get', 'GET')],
  [4, read('keys.list', '/v1/keys?limit=5')],
  [16, read('keys.self', '/v1/keys/self')],
  [2, createWebhook],
  [3, updateWebhook],
  [3, read('webhooks.list', '/v1/webhooks?limit=5')],
  [6, publish],
]

/** Never later than the key would end anyway: an owner who extends gives more, and may. */
const shorten: Maker = (known) => {
  const { random, now, expiryOf } = known
  const id = drawId(known, known.keyIds)
  const left = Math.min(DAY, (expiryOf.get(id) ?? Infinity) - now)
  return {
    operation: 'keys.update',
    method: 'PATCH',
    path: `/v1/keys/${id}`,
    body: JSON.stringify({ expires_at: toIso(now + 1 + random.below(Math.max(1, left))) }),
  }
}

/** What an owner does who takes authority away; safe to happen beside whatever the attacker does. */
export const TAKING_AWAY: readonly Choice[] = [
  [6, update(({ random, scopes }) => ({ scopes: random.subset(scopes) }))],
  [2, onKey('keys.end_previous', 'DELETE', '/previous')],
  [2, onKey('keys.revoke', 'DELETE')],
]

/** What else an owner does, by what it read right before. */
export const OWNER_CALLS: readonly Choice[] = [...TAKING_AWAY, [2, mint], [3, rotate], [5, shorten]]
