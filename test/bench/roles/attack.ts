import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { serve } from '../serve.ts'

export interface Attack {
  readonly origin: string
  /** One key for each attacker, whose account has wide events. */
  readonly keys: readonly string[]
  /** Connections of each attacker, of every kind. */
  readonly connections: number
}

const MIB = 1_048_576
/** Longer than the daemon leaves a peer that reads nothing: a paused socket does not see that it was ended. */
const LIFE = 20_000
const FAULTS = MIB / 16

/** What an attacker sends over a connection; none of them reads an answer. */
const KINDS: readonly ((key: string, host: string) => string)[] = [
  (key, host) => head(key, host, 'GET', '/v1/events?limit=100'),
  (key, host) =>
    head(key, host, 'POST', '/v1/events', 8 * MIB) + `{"events":[${' '.repeat(4 * MIB)}`,
  (key, host) => head(key, host, 'POST', '/v1/keys', FAULTIES.length) + FAULTIES,
  (key, host) => head(key, host, 'GET', '/v1/event-types'),
  (key, host) => head(key, host, 'POST', '/v1/apps', NUMBERS.length) + NUMBERS,
  () => 'GET /v1/keys/self HTTP/1.1\r\nHost: ',
]

/** As much JSON as a body may hold, of as many values as fit into it. */
const NUMBERS = `[${'0,'.repeat(8 * MIB - 2)}0]`
const FAULTIES = `{${Array.from({ length: FAULTS }, (_, n) => `"f${n}":0`).join()}}`

function head(key: string, host: string, method: string, path: string, length?: number): string {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    ...(length === undefined ? [] : [`Content-Length: ${length}`]),
  ]
  return `${lines.join('\r\n')}\r\n\r\n`
}

let isOver = false
const sockets = new Set<Socket>()

/** Keeps so many connections of each kind open until it is told to stop: one that ends is opened anew. */
function start({ origin, keys, connections }: Attack): void {
  const { host, port } = new URL(origin)
  for (const [n, key] of keys.entries()) {
    // Each attacker has a network of its own.
    const localAddress = `127.0.1.${n + 1}`
    for (const kind of KINDS) {
      // One copy for all connections, outside the heap of this process.
      const request = Buffer.from(kind(key, host))
      for (let c = 0; c < connections; c += 1) {
        void keepOpen({ port: Number(port), host: '127.0.0.1', localAddress }, request)
      }
    }
  }
}

async function keepOpen(
  target: { readonly port: number; readonly host: string; readonly localAddress: string },
  request: Buffer,
): Promise<void> {
  while (!isOver) {
    const socket = connect(target)
    sockets.add(socket)
    socket.on('error', () => undefined)
    // Paused: what the daemon answers stays in the system's buffers, and then in the daemon.
    socket.pause()
    socket.write(request)
    const ending = setTimeout(() => socket.destroy(), LIFE)
    await new Promise((resolve) => socket.once('close', resolve))
    clearTimeout(ending)
    sockets.delete(socket)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

function stop(): void {
  isOver = true
  for (const socket of sockets) socket.destroy()
}

serve({ start, stop })
