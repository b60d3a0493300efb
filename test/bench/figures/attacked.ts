import type { Figure, Values } from '../figure.ts'
import type { LoadResult } from '../roles/load.ts'
import type { Attack } from '../roles/attack.ts'
import type { Round } from '../round.ts'
import { peakResident, serveAt } from './restart.ts'

const OPERATOR_TOKEN = 'the-operator-of-the-attacked-daemon-of-the-bench'
const ATTACKERS = 10
/** Of each attacker, of each of the six kinds. */
const CONNECTIONS = 20
/** Events of each attacker that are as wide as they may be, so that one page of them is 10 MiB. */
const WIDE_EVENTS = 40
const WIDE = 250 * 1024
/** Event types of each attacker, each with a schema and a sample of 15 KiB. */
const WIDE_TYPES = 60
const WIDE_TYPE = { type: 'object', description: 'x'.repeat(15 * 1024) }
/** Requests per second of the account that does not attack: what the default rate of reads allows. */
const RATE = 10
/** Seconds of load for one second of the round: 200 requests at the default of two. */
const TIMES = 10

const OPERATOR = { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' }

async function make(
  url: string,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = OPERATOR,
): Promise<Readonly<Record<string, string>>> {
  const method = path.startsWith('/v1/event-types') ? 'PUT' : 'POST'
  const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
  return (await response.json()) as Readonly<Record<string, string>>
}

/** A new account with wide events and event types; answers a key of it. */
async function addAccount(url: string, events: number, types: number): Promise<string> {
  const { id = '' } = await make(url, '/v1/accounts', { name: 'An account' })
  const owner = { ...OPERATOR, 'keyhook-account': id }
  await make(url, '/v1/event-types/load.wide', {}, owner)
  for (let n = 0; n < events; n += 1) {
    await make(url, '/v1/events', { type: 'load.wide', data: { text: 'x'.repeat(WIDE) } }, owner)
  }
  for (let n = 0; n < types; n += 1) {
    await make(url, `/v1/event-types/load.t${n}`, { schema: WIDE_TYPE, sample: WIDE_TYPE }, owner)
  }
  const { key = '' } = await make(url, '/v1/keys', { name: 'a key', scopes: ['*:*'] }, owner)
  return key
}

async function measure(round: Round): Promise<Values> {
  const { env } = await round.place('sqlite')
  const { url, pid } = await serveAt(round, { ...env, KEYHOOK_OPERATOR_TOKEN: OPERATOR_TOKEN })
  const keys: string[] = []
  for (let n = 0; n < ATTACKERS; n += 1) keys.push(await addAccount(url, WIDE_EVENTS, WIDE_TYPES))
  const key = await addAccount(url, 0, 0)
  const self = { origin: url, method: 'GET', path: '/v1/keys/self', status: 200, key } as const
  const asked = { ...self, rate: RATE, connections: 4, seconds: round.seconds * TIMES }

  const alone: LoadResult = await round.load(asked)
  const attack: Attack = { origin: url, keys, connections: CONNECTIONS }
  const attacker = round.start('attack')
  await attacker.call('start', attack)
  const beside: LoadResult = await round.load(asked)
  const peak = await peakResident(pid)
  await attacker.call('stop')
  return {
    'p99 ms': beside.p99,
    'p50 ms': beside.p50,
    'p99 ms with no attacker': alone.p99,
    'peak resident MB': peak,
  }
}

export const attacked: Figure = {
  name: 'attacked',
  title: `GET /v1/keys/self of one account while ${ATTACKERS} others attack on ${CONNECTIONS} connections each`,
  baseline: null,
  goals: [
    { value: 'p99 ms', at_most: 250 },
    { value: 'peak resident MB', at_most: 400 },
  ],
  takes: 80,
  measure,
}
