import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Operation } from '../../../daemon/operations/operation.ts'
import {
  ANONYMOUS_BODY_BYTES,
  ANONYMOUS_RESPONSE_BYTES,
  BODY_BYTES,
  RESPONSE_BYTES,
} from '../../../daemon/limits/amounts.ts'
import { SECOND } from '../../../lib/time.ts'
import { until } from '../../support/daemon.ts'
import { sized } from '../../support/soak.ts'
import type { Attacked, Headers, Request, Tenant } from '../operations/attacked.ts'
import { ALL, pathOf, startAttacked } from '../operations/attacked.ts'
import { schemaOf, wideValues } from './wide.ts'

const KIB = 1024
const MIB = 1024 * KIB
/** An event may have 256 KiB. */
const WIDE_EVENT = 250 * KIB
const WIDE_EVENTS = sized(12, 40)
/** Of each record that an operation makes. */
const WIDE_RECORDS = 30
const MOST_MEMORY = 400 * MIB
/** Of password hashing, whose memory is none of JavaScript's: two at once, each of 128 MiB. */
export const HASHING: number = 256 * MIB

const MOST_BYTES: Readonly<Record<string, number>> = {
  bodies: BODY_BYTES,
  responses: RESPONSE_BYTES,
  anonymous_bodies: ANONYMOUS_BODY_BYTES,
  anonymous_responses: ANONYMOUS_RESPONSE_BYTES,
}

const NETWORKS = { attackers: '127.0.0.1', other: '127.0.0.2' }

/** Who can call every operation. */
export interface Caller extends Tenant {
  readonly key: string
  /** Headers of a signed-in user. */
  readonly session: Headers
  /** Headers of a session of the portal. */
  readonly portal: Headers
  /** The address of this machine that it comes from. */
  readonly from: string
}

export interface Stage {
  readonly attacked: Attacked
  readonly attackers: readonly Caller[]
  readonly other: Caller
}

/** Ten attackers, each with wide events, and somebody else. */
export async function openStage(t: Test): Promise<Stage> {
  const attacked = await startAttacked(t)
  const session = await attacked.signIn('attacker@example.com')
  const open = async (from: string, session: Headers): Promise<Caller> => {
    const tenant = await attacked.addTenant()
    const portal = await openPortal(attacked, tenant, from)
    return { ...tenant, key: await tenant.mint(), session, portal, from }
  }
  const attackers: Caller[] = []
  for (let n = 0; n < 10; n += 1) attackers.push(await open(NETWORKS.attackers, session))
  for (const attacker of attackers) await publishWide(attacked, attacker)
  const other = await open(NETWORKS.other, await attacked.signIn('other@example.com'))
  return { attacked, attackers, other }
}

/** Opens the portal of an account, as whoever follows its link does. */
async function openPortal(
  attacked: Attacked,
  { owner, id }: Tenant,
  from: string,
): Promise<Headers> {
  const post = async (path: string, headers: Headers, body: string): Promise<string> => {
    const { status, text } = await attacked.send(
      withBody({ method: 'POST', path, headers, from }, body),
    )
    if (status >= 300) throw new Error(text)
    return text
  }
  const links = `/v1/accounts/${id}/portal-links`
  const { url } = JSON.parse(await post(links, owner, '{}')) as { readonly url: string }
  const [, token = ''] = url.split('#token=')
  const opened = await post('/v1/portal/session', {}, JSON.stringify({ token }))
  return bearer((JSON.parse(opened) as { readonly token: string }).token)
}

/** Publishes events that are as wide as they may be. */
async function publishWide(attacked: Attacked, { key, from }: Caller): Promise<void> {
  for (let n = 0; n < WIDE_EVENTS; n += 1) {
    const body = JSON.stringify({ type: 'order.paid', data: { wide: 'x'.repeat(WIDE_EVENT) } })
    const asked = withBody({ method: 'POST', path: '/v1/events', headers: bearer(key), from }, body)
    const { status, text } = await attacked.send(asked)
    if (status >= 300) throw new Error(text)
  }
}

/**
 * Makes records of every operation that changes an account, each as wide as it may be.
 *
 * @returns the operations that made any
 */
export async function makeWide(attacked: Attacked, caller: Caller): Promise<readonly string[]> {
  const made: string[] = []
  for (const operation of ALL) {
    if (operation.effect !== 'write' || typeof operation.access !== 'object') continue
    if (operation.method === 'DELETE') continue
    const taken = await widest(attacked, caller, operation)
    if (taken === undefined) continue
    made.push(operation.id)
    for (let n = 1; n < WIDE_RECORDS; n += 1) {
      await attacked.send(requestOf(operation, caller, taken))
    }
  }
  return made
}

/** The example's body with every field as wide as the operation takes it; undefined where it takes none. */
async function widest(
  attacked: Attacked,
  caller: Caller,
  operation: Operation,
): Promise<string | undefined> {
  let body: Readonly<Record<string, unknown>> = {
    ...(operation.example.body as object | undefined),
  }
  let isTaken = false
  for (const [name, schema] of Object.entries(schemaOf(operation)?.properties ?? {})) {
    for (const value of wideValues(body[name], schema)) {
      const wider = { ...body, [name]: value }
      const asked = requestOf(operation, caller, JSON.stringify(wider))
      if ((await attacked.send(asked)).status >= 300) continue
      body = wider
      isTaken = true
      break
    }
  }
  return isTaken ? JSON.stringify(body) : undefined
}

/** What an operation is asked by whoever may ask for it, for as much as it gives. */
export function requestOf(
  operation: Operation,
  caller: Caller,
  body: string | undefined = exampleOf(operation),
): Request {
  const { method, access, input, example } = operation
  const query = new URLSearchParams(example.query ?? {})
  if (input.query !== undefined && 'limit' in input.query.shape) query.set('limit', '100')
  const path = `${pathOf(operation, caller.ids)}?${query.toString()}`
  const headers = typeof access === 'object' ? bearer(caller.key) : HEADERS[access](caller)
  return withBody({ method, path, headers, from: caller.from }, body)
}

type NamedAccess = Exclude<Operation['access'], object>

const HEADERS: Readonly<Record<NamedAccess, (caller: Caller) => Headers>> = {
  key: ({ key }) => bearer(key),
  user: ({ session }) => session,
  owner: ({ owner }) => owner,
  operator: ({ owner }) => owner,
  portal: ({ portal }) => portal,
  public: () => ({}),
}

export function bearer(key: string): Headers {
  return { authorization: `Bearer ${key}` }
}

function withBody(request: Request, body: string | undefined): Request {
  if (body === undefined) return request
  return { ...request, headers: { ...request.headers, 'content-type': 'application/json' }, body }
}

function exampleOf({ input, example }: Operation): string | undefined {
  return input.body === undefined || example.body === undefined
    ? undefined
    : JSON.stringify(example.body)
}

const BY_DELETING = [
  ...ALL.filter(({ method }) => method !== 'DELETE'),
  ...ALL.filter(({ method }) => method === 'DELETE'),
]

/** Operations that a key may call, those that delete last: the others need what they delete. */
export const OF_KEYS: readonly Operation[] = BY_DELETING.filter(isOfKeys)
/** Operations of the operator, of sessions and of everybody: these check passwords too. */
export const OF_OTHERS: readonly Operation[] = BY_DELETING.filter((one) => !isOfKeys(one))

function isOfKeys({ access }: Operation): boolean {
  return typeof access === 'object' || access === 'key'
}

/**
 * Whether somebody else is answered, as they would be if nobody else were there. What they may do again only
 * later, such as looking for a domain, they do then.
 */
export async function isServed({ attacked, other }: Stage, operation: Operation): Promise<boolean> {
  const ask = () => attacked.send(requestOf(operation, other))
  const first = await ask()
  const isLater = first.status === 429
  if (isLater) await delay(Number(first.headers['retry-after']) * SECOND)
  const { status } = isLater ? await ask() : first
  return (status < 500 || status === 501) && status !== 429
}

/** What a case found of the memory of its process. */
export interface Held {
  /** Bytes that pools held at most, of those that were looked at. */
  readonly most: Readonly<Record<string, number>>
  /** Looks at the pools: none holds more than it may. */
  look(what: string): Promise<void>
  /**
   * Waits until everything is given back, and judges the memory of the process.
   *
   * @param beside bytes that are held beside what requests and responses are
   */
  end(beside?: number): Promise<void>
}

export function watchHeld(t: Test, attacked: Attacked): Held {
  const most: Record<string, number> = {}
  attacked.resetPeak()
  const before = attacked.peak() ?? 0
  return {
    most,
    async look(what) {
      for (const [pool, bytes] of Object.entries(await attacked.held())) {
        const limit = MOST_BYTES[pool] ?? 0
        if (bytes > limit) t.fail(`${what}: ${bytes} bytes of ${pool}, of ${limit}`)
        most[pool] = Math.max(most[pool] ?? 0, bytes)
      }
    },
    async end(beside = 0) {
      await until('all bytes are given back', async () =>
        Object.values(await attacked.held()).every((bytes) => bytes === 0),
      )
      const peak = attacked.peak() ?? 0
      t.comment(`${toMib(before)} MB before, ${toMib(peak)} MB at most; bytes: ${print(most)}`)
      t.ok(peak < MOST_MEMORY + beside, `${toMib(peak)} MB`)
      attacked.resetPeak()
    },
  }
}

function print(most: Readonly<Record<string, number>>): string {
  return Object.entries(most)
    .map(([pool, bytes]) => `${pool} ${Math.round(bytes / KIB)} KiB`)
    .join(', ')
}

function toMib(bytes: number): number {
  return Math.round(bytes / MIB)
}
