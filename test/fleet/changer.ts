import type { WriteStream } from 'node:fs'
import type { Ask, Json, Reply } from '../crash/wire.ts'
import { createWire } from '../crash/wire.ts'
import type { SeededRandom } from '../support/seeded-random.ts'
import type { ChangeKind, Left, Limit, Value } from './authority.ts'
import type { Prober } from './prober.ts'
import { rest, steady } from './steady.ts'

/** A change of authority as whoever asked for it saw it; instants by the steady clock. */
export interface Change {
  readonly kind: ChangeKind
  readonly asked: number
  readonly answered: number
  /** How often it was asked, each time of a random daemon, and how long the last time took. */
  readonly tries: number
  readonly took: number
}

export interface ChangerOptions {
  readonly origins: readonly string[]
  readonly operator: string
  readonly prober: Prober
  readonly random: SeededRandom
  readonly journal: WriteStream
  /** The longest rest between two changes. */
  readonly pace: number
  readonly name: string
  readonly done: (change: Change) => void
}

const SCOPES = [
  'apps:read',
  'deploy:read',
  'edits:read',
  'events:read',
  'files:read',
  'settings:read',
  'webhooks:read',
] as const
const AGAIN = 20
/** Longer than a run's patience: it is ended before. */
const GRACE_SECONDS = 3600
const FAR = 3_600_000
const STEP = 60_000
const NEAR = 1500
/** Values that ended are asked for on, the latest of them. */
const REMEMBERED = 4

interface Key {
  readonly id: string
  scopes: readonly string[]
  /** When it expires, if it does. */
  until: number
  value: Value
}

/** A key, its child and its grandchild. */
type Line = readonly [root: Key, child: Key, leaf: Key]

/** What refusal of a repetition says that an earlier try did it. */
interface Asking extends Omit<Ask, 'token'> {
  readonly token?: string
  readonly doneBy?: string
}

/**
 * Makes families of keys in an account of its own and takes authority away from them, one change after
 * the other, until it is stopped.
 */
export async function runChanger(options: ChangerOptions, isStopped: () => boolean): Promise<void> {
  const { origins, operator, prober, random, journal, pace, name, done } = options
  const send = createWire()
  const account = `fleet-${name}`
  const ended: Value[] = []
  let numbers = 0

  /** Asks random daemons until one answers; answers how often and how long the last time took. */
  async function ask({ doneBy, ...asking }: Asking) {
    const asked = { token: operator, ...asking }
    for (let tries = 1; ; tries++) {
      const daemon = random.below(origins.length)
      const started = steady()
      const reply = await send(origins[daemon] ?? '', asked)
      const took = steady() - started
      const code = (reply.body['error'] as { readonly code?: string } | undefined)?.code
      const { method, path } = asked
      journal.write(
        `${JSON.stringify(['ask', daemon, method, path, started, took, reply.status])}\n`,
      )
      if (reply.outcome === 'ok' || (tries > 1 && doneBy !== undefined && code === doneBy)) {
        return { body: reply.body, tries, took }
      }
      if (isFinal(reply, code)) {
        throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
      }
      await rest(AGAIN)
    }
  }

  const ofAccount = { 'keyhook-account': account }
  const once = (): Readonly<Record<string, string>> => ({
    ...ofAccount,
    'idempotency-key': `${name}-${++numbers}`,
  })

  function toValue(token: string): Value {
    const value = { name: `${name}.${++numbers}`, token, limits: [] }
    prober.values.set(value.name, value)
    return value
  }

  /** Asks for a change that leaves these values so much, and has every daemon asked for them after. */
  async function take(
    kind: ChangeKind,
    values: readonly Value[],
    left: Left,
    asking: Asking,
  ): Promise<{ readonly body: Json; readonly limits: readonly Limit[] }> {
    const limits = values.map((): Limit => {
      return {
        kind,
        asked: steady(),
        answered: Infinity,
        liftAsked: Infinity,
        lifted: Infinity,
        left,
      }
    })
    for (const [index, value] of values.entries())
      value.limits.push(...limits.slice(index, index + 1))
    const asked = steady()
    const { body, tries, took } = await ask({ headers: ofAccount, ...asking })
    const answered = steady()
    for (const limit of limits) limit.answered = answered
    journal.write(
      `${JSON.stringify(['change', kind, values.map((one) => one.name), asked, answered, left])}\n`,
    )
    for (const value of values) prober.ask(value)
    done({ kind, asked, answered, tries, took })
    return { body, limits }
  }

  /** An answer that was lost shows its value to nobody: then another is made. */
  async function create(scopes: readonly string[], parent: Key | undefined): Promise<Key> {
    for (;;) {
      const { body } = await ask({
        method: 'POST',
        path: '/v1/keys',
        body: { name: 'fleet', scopes: ['keys:write', ...scopes] },
        headers: parent === undefined ? once() : { 'idempotency-key': `${name}-${++numbers}` },
        ...(parent && { token: parent.value.token }),
      })
      const { id, key } = body
      if (typeof key === 'string') {
        return { id: String(id), scopes, until: Infinity, value: toValue(key) }
      }
    }
  }

  /**
   * A new value whose answer was lost is known to nobody: then another is made. It is made with the same grace, since
   * one without would end only the lost value, and not those before it.
   */
  async function rotate(key: Key, grace: number): Promise<void> {
    const asking = {
      method: 'POST',
      path: `/v1/keys/${key.id}/rotate`,
      body: { grace_seconds: grace },
      headers: once(),
    }
    const { body } =
      grace > 0 ? await ask(asking) : await take('rotate', [key.value], 'nothing', asking)
    if (typeof body['key'] !== 'string') return rotate(key, grace)
    // What bounds the key bounds its next value; what ended the value alone does not.
    const limits = key.value.limits.filter(({ left }) => left !== 'nothing')
    key.value = toValue(body['key'])
    key.value.limits.push(...limits)
  }

  const CHANGING: readonly ((line: Line) => Promise<void>)[] = [
    async ([, child, leaf]) => {
      const key = random.oneIn(2) ? child : leaf
      if (key.scopes.length === 1) return
      const lost = random.below(key.scopes.length)
      key.scopes = key.scopes.filter((_, index) => index !== lost)
      const scopes = ['keys:write', ...key.scopes]
      const values = key === child ? [child.value, leaf.value] : [leaf.value]
      const path = `/v1/keys/${key.id}`
      await take('narrow', values, { scopes }, { method: 'PATCH', path, body: { scopes } })
    },
    async ([, child, leaf]) => {
      const until = Math.min(child.until, Date.now() + FAR) - 1 - random.below(STEP)
      child.until = until
      const body = { expires_at: new Date(until).toISOString() }
      const path = `/v1/keys/${child.id}`
      await take('shorten', [child.value, leaf.value], { until }, { method: 'PATCH', path, body })
    },
    async ([, child]) => {
      const old = child.value
      await rotate(child, 0)
      retire([old])
    },
    async ([, , leaf]) => {
      const old = leaf.value
      await rotate(leaf, GRACE_SECONDS)
      await rest(random.below(pace))
      const path = `/v1/keys/${leaf.id}/previous`
      const doneBy = 'no_previous_value'
      await take('end_previous', [old], 'nothing', { method: 'DELETE', path, doneBy })
      retire([old])
    },
    async (line) => {
      const values = line.map(({ value }) => value)
      const to = (verb: string): Asking => ({
        method: 'POST',
        path: `/v1/accounts/${account}/${verb}`,
        // A try whose answer was lost must not be carried out behind what comes after.
        headers: once(),
        doneBy: 'account_suspension_unchanged',
      })
      const { limits } = await take('suspend', values, 'nothing', to('suspend'))
      await rest(random.below(pace))
      for (const limit of limits) limit.liftAsked = steady()
      await ask(to('resume'))
      for (const limit of limits) limit.lifted = steady()
    },
  ]

  /** A leaf soon expires, or is revoked; then an ancestor is, and with it what is left. */
  async function end([root, child, leaf]: Line): Promise<void> {
    const path = `/v1/keys/${leaf.id}`
    if (random.oneIn(2)) {
      const until = Date.now() + NEAR + random.below(NEAR)
      const body = { expires_at: new Date(until).toISOString() }
      await take('shorten', [leaf.value], { until }, { method: 'PATCH', path, body }).catch(
        unlessPast(until),
      )
    } else await take('revoke', [leaf.value], 'nothing', { method: 'DELETE', path })
    await rest(random.below(pace))
    const values = [root.value, child.value, leaf.value]
    const ancestor = random.oneIn(2) ? root : child
    const ends = ancestor === root ? values : values.slice(1)
    await take('revoke_ancestor', ends, 'nothing', {
      method: 'DELETE',
      path: `/v1/keys/${ancestor.id}`,
    })
    if (ancestor !== root) {
      await take('revoke', [root.value], 'nothing', {
        method: 'DELETE',
        path: `/v1/keys/${root.id}`,
      })
    }
    retire(values)
  }

  function retire(values: readonly Value[]): void {
    ended.push(...values)
    for (const old of ended.splice(0, Math.max(0, ended.length - REMEMBERED))) {
      prober.values.delete(old.name)
    }
  }

  await ask({
    method: 'POST',
    path: '/v1/accounts',
    body: { name: account, id: account },
    doneBy: 'account_exists',
  })
  while (!isStopped()) {
    const root = await create(SCOPES, undefined)
    const child = await create(SCOPES, root)
    const leaf = await create(SCOPES, child)
    const line: Line = [root, child, leaf]
    for (let changes = 3 + random.below(5); changes > 0 && !isStopped(); changes--) {
      await rest(random.below(pace))
      await CHANGING[random.below(CHANGING.length)]?.(line)
    }
    if (!isStopped()) await end(line)
  }
}

/** Refusals that pass: the same request is under way, or overtook another. */
const PASSING: ReadonlySet<string> = new Set(['idempotency_in_progress', 'rotation_conflict'])

function isFinal({ outcome, status }: Reply, code: string | undefined): boolean {
  return outcome === 'fail' && status !== 0 && !PASSING.has(code ?? '')
}

/** What took so long that the new expiry lies behind changes nothing more. */
function unlessPast(until: number): (cause: unknown) => void {
  return (cause) => {
    if (Date.now() <= until) throw cause
  }
}
