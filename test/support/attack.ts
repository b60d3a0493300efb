import { FAMILIES } from '../../daemon/families/index.ts'
import type { Platform } from '../../daemon/platform.ts'
import { MINUTE, SECOND } from '../../lib/time.ts'
import type { Cast } from './attack-cast.ts'
import { castAttack } from './attack-cast.ts'
import type { VirtualClock } from './clock.ts'
import type { RawAnswer, RawRequest } from './in-process.ts'
import type { Choice, KeyCall, Knowledge } from './key-calls.ts'
import { ATTACKS, OWNER_CALLS, TAKING_AWAY, drawCall } from './key-calls.ts'
import type { Rows } from './key-reach.ts'
import { grantedReach, judgeReach, reachOfKey, reachOfValue, readRows } from './key-reach.ts'
import type { Reach } from './reach.ts'
import { allowsSomewhere, beyond, holdsApps } from './reach.ts'
import type { SeededRandom } from './seeded-random.ts'
import type { AnyBody } from './world.ts'

/** Where attacks take place, each on an account of its own. */
export interface Site {
  readonly platform: Platform
  readonly clock: VirtualClock
  readonly operatorToken: string
  ask(request: RawRequest): Promise<RawAnswer>
}

/** What became of one attack. */
export interface Outcome {
  readonly calls: number
  /** Values that the attacker came to hold, and how often what they may do was judged. */
  readonly values: number
  readonly judged: number
  /** How often each operation was called by the attacker, and how often carried out. */
  readonly called: Counts
  readonly done: Counts
  readonly faults: readonly string[]
}

/** By the operation's id. */
type Counts = Readonly<Record<string, number>>

interface Attack {
  readonly site: Site
  readonly random: SeededRandom
  readonly cast: Cast
  readonly start: Reach
  /** Every value that the attacker ever held, with its key's id. */
  readonly held: Map<string, string>
  readonly live: Set<string>
  readonly webhookIds: string[]
  readonly called: Record<string, number>
  readonly done: Record<string, number>
  readonly faults: string[]
  /** What was called, and its status, latest last. */
  readonly trail: string[]
  rows: Rows
  calls: number
  judged: number
}

/** Calls at random as one key, and as whatever it obtains, until nothing that it holds is left. */
export async function runAttack(
  site: Site,
  random: SeededRandom,
  options: { readonly calls: number; readonly ownerActs: boolean },
): Promise<Outcome> {
  const attack = await begin(site, random)
  const { live, held, faults } = attack
  while (attack.calls < options.calls && live.size > 0 && faults.length === 0) {
    if (options.ownerActs && random.oneIn(25)) await actAsOwner(attack, OWNER_CALLS)
    if (random.oneIn(50)) await site.clock.advance(random.pick([1, SECOND, MINUTE, 20 * MINUTE]))
    const calls = [callAsAttacker(attack)]
    if (random.oneIn(8)) calls.push(callAsAttacker(attack))
    if (options.ownerActs && random.oneIn(100)) calls.push(actAsOwner(attack, TAKING_AWAY))
    await Promise.all(calls)
    if (random.oneIn(40)) await judgeValues(attack, live)
  }
  await judgeValues(attack, held.keys())
  const { calls, judged, called, done } = attack
  return { calls, values: held.size, judged, called, done, faults }
}

async function begin(site: Site, random: SeededRandom): Promise<Attack> {
  const cast = await castAttack(site, random)
  const { attacker, accountId } = cast
  const rows = await readRows(site.platform, accountId)
  const start = reachOfKey(rows, attacker.id, site.clock.now())
  if (start === undefined) throw new Error('the attack begins with a live key')
  return {
    site,
    random,
    cast,
    start,
    rows,
    held: new Map([[attacker.key, attacker.id]]),
    live: new Set([attacker.key]),
    webhookIds: [],
    called: {},
    done: {},
    faults: [],
    trail: [],
    calls: 0,
    judged: 0,
  }
}

function knowledgeOf({ site, random, rows, webhookIds, cast }: Attack): Knowledge {
  const keys = [...rows.values()]
  return {
    random,
    now: site.clock.now(),
    keyIds: [...rows.keys(), cast.foreignKeyId],
    expiryOf: new Map(keys.map(({ id, expires_at }) => [id, expires_at ?? Infinity])),
    webhookIds,
    scopes: cast.scopes,
  }
}

async function send(
  { site, trail, faults }: Attack,
  { method, path, headers, body }: KeyCall,
  credentials: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly body: AnyBody }> {
  const { status, text } = await site.ask({
    method,
    path,
    headers: {
      ...credentials,
      ...headers,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
  })
  trail.push(`${status} ${method} ${path} ${body ?? ''}`)
  if (status >= 500) faults.push(`${trail.at(-1)}: ${text}`)
  return { status, body: JSON.parse(text) as AnyBody }
}

async function callAsAttacker(attack: Attack): Promise<void> {
  const value = drawValue(attack)
  const call = drawCall(ATTACKS, knowledgeOf(attack))
  attack.calls += 1
  count(attack.called, call)
  const { status, body } = await send(attack, call, { authorization: `Bearer ${value}` })
  if (status >= 300) return
  count(attack.done, call)
  judgeAnswer(attack, call, attack.held.get(value) ?? '', body)
  if (call.operation === 'webhooks.create') attack.webhookIds.push(String(body['id']))
  if (typeof body['key'] === 'string') await take(attack, body['key'], String(body['id']))
}

function count(counts: Record<string, number>, { operation }: KeyCall): void {
  counts[operation] = (counts[operation] ?? 0) + 1
}

/** Mostly the key that it began with, or the best of what came of it; now and then an old value. */
function drawValue({ random, held, live, cast }: Attack): string {
  const { key } = cast.attacker
  if (live.has(key) && random.oneIn(3)) return key
  const from = random.oneIn(15) ? held.keys() : live
  return random.pickAny([...from]) ?? key
}

/** A new value is judged at once: beside it another call may be under way, so by the start alone. */
async function take(attack: Attack, value: string, id: string): Promise<void> {
  attack.held.set(value, id)
  attack.live.add(value)
  const granted = await grantedReach(attack.site.platform, value)
  attack.judged += 1
  if (granted !== undefined) blame(attack, beyond(granted, attack.start))
}

async function actAsOwner(attack: Attack, table: readonly Choice[]): Promise<void> {
  const { site, random, cast } = attack
  attack.rows = await readRows(site.platform, cast.accountId)
  const known = knowledgeOf(attack)
  const keyIds = random.oneIn(4) ? [random.pick(cast.line)] : known.keyIds
  await send(attack, drawCall(table, { ...known, keyIds }), cast.owner)
}

/** Whatever was carried out or shown lies within what the attack began with. */
function judgeAnswer(attack: Attack, call: KeyCall, ownId: string, body: AnyBody): void {
  const { start } = attack
  const access = accessOf.get(call.operation)
  if (typeof access !== 'object') return
  if (access.self !== undefined && call.path.includes(ownId)) return
  if (!allowsSomewhere(start, access.scope)) blame(attack, [`done without ${access.scope}`])
  const data = (body['data'] ?? [body]) as readonly { readonly apps?: readonly string[] | null }[]
  for (const { apps } of data) {
    if (apps !== undefined && !holdsApps(start, apps)) blame(attack, [`shown apps ${String(apps)}`])
  }
  if (call.operation === 'events.publish') {
    const { app_id } = JSON.parse(call.body ?? '') as { readonly app_id?: string }
    const apps = app_id === undefined ? null : [app_id]
    if (!holdsApps(start, apps)) blame(attack, [`published for ${String(apps)}`])
  }
}

const accessOf = new Map(
  FAMILIES.flatMap(({ operations }) => operations.map(({ id, access }) => [id, access])),
)

/** Every value may do what the rows of its chain say, no less, and no more than the start. */
async function judgeValues(attack: Attack, values: Iterable<string>): Promise<void> {
  const { site, start, held, live, cast } = attack
  attack.rows = await readRows(site.platform, cast.accountId)
  for (const value of values) {
    const id = held.get(value) ?? ''
    const expected = reachOfValue(attack.rows, value, id, site.clock.now())
    const granted = await grantedReach(site.platform, value)
    attack.judged += 1
    blame(attack, judgeReach(granted, expected, start))
    if (granted === undefined) live.delete(value)
  }
}

function blame({ faults, trail }: Attack, found: readonly string[]): void {
  if (found.length > 0) faults.push([...found, 'after', ...trail.slice(-5)].join('\n'))
}
