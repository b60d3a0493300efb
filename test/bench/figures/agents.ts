import type { Figure, Values } from '../figure.ts'
import type { Made } from '../roles/daemon.ts'
import type { Round } from '../round.ts'
import { mcpMessage } from '../mcp-message.ts'
import { compare } from './reads.ts'

/** The limits are counted, and are never reached: all clients are on one machine. */
const LIMITS = { KEYHOOK_RATE_READS: '1000000', KEYHOOK_NETWORK_CONNECTIONS: '2000' }

const ADDRESS = '/mcp?toolsets=keys'
const CALL = mcpMessage('tools/call', { name: 'keys_self', arguments: {} })

/** Idle streams, of as many keys as a key may have streams for. */
const STREAMS = 1000
const STREAMS_OF_A_KEY = 20
const LISTEN = mcpMessage('subscriptions/listen', { notifications: { toolsListChanged: true } })
/** Longer than a beat, in which each stream is written to and its key admitted again. */
const SETTLED_MS = 7000

async function agentsDaemon(round: Round, keys: number) {
  const place = await round.place('sqlite')
  const daemon = await round.daemon({ env: { ...place.env, ...LIMITS }, dispatch: false })
  const made: Made[] = []
  for (let n = 0; n < keys; n += 1) made.push(await daemon.child.call<Made>('make', []))
  return { ...daemon, keys: made.map(({ key }) => key) }
}

/** A refusal has the status of a result. */
async function requireResult(origin: string, key: string): Promise<void> {
  const response = await fetch(origin + ADDRESS, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...CALL.headers,
    },
    body: CALL.body,
  })
  const text = await response.text()
  if (!text.includes('"keyhook/status":200')) throw new Error(`not a result: ${text}`)
}

async function measureCall(round: Round): Promise<Values> {
  const { child, origin, keys } = await agentsDaemon(round, 1)
  const [key = ''] = keys
  await requireResult(origin, key)
  const rest = await round.load({
    origin,
    key,
    method: 'GET',
    path: '/v1/keys/self',
    status: 200,
  })
  const called = await round.load({
    origin,
    key,
    method: 'POST',
    path: ADDRESS,
    status: 200,
    headers: CALL.headers,
    bodies: [CALL.body],
  })
  await child.end()
  return compare(called, rest)
}

async function measureIdle(round: Round): Promise<Values> {
  const { child, origin, keys } = await agentsDaemon(round, STREAMS / STREAMS_OF_A_KEY)
  const reader = round.start('listen')
  const asked = { origin, keys, path: ADDRESS, ...LISTEN }
  // One of each key: what is loaded and kept for the first ones is not what a stream takes.
  await reader.call('open', { ...asked, each: 1 })
  await reader.call('close')
  const before = await child.call<number>('resident', SETTLED_MS)
  const streams = await reader.call<number>('open', { ...asked, each: STREAMS_OF_A_KEY })
  const with1000 = await child.call<number>('resident', SETTLED_MS)
  await reader.call('close')
  await child.end()
  return { streams, 'added MB': with1000 - before, 'resident MB': with1000 }
}

export const agents: readonly Figure[] = [
  {
    name: 'mcp-read',
    title: 'tools/call of keys_self per second over MCP, from memory',
    baseline: 'GET /v1/keys/self of the same daemon',
    goals: [{ value: 'ratio', at_least: 0.5 }],
    takes: 10,
    measure: measureCall,
  },
  {
    name: 'mcp-idle',
    title: `resident memory that ${STREAMS} idle streams of MCP add`,
    baseline: null,
    goals: [
      { value: 'added MB', at_most: 100 },
      { value: 'streams', at_least: STREAMS },
    ],
    takes: 25,
    measure: measureIdle,
  },
]
