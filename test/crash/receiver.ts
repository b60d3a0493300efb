/**
 * The receiver: one process that takes every delivery, journals it, and answers as the path says:
 * `/<manner>/<name>`.
 */
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openJournal } from './journal.ts'

/** One delivery that arrived whole. */
export interface Arrival {
  /** When its headers were read. */
  readonly at: number
  readonly path: string
  readonly delivery: string
  readonly event: string
  /** SHA-256 of the bytes. */
  readonly hash: string
  readonly signature: string
  /** The bytes as text; absent for bytes that are known. */
  readonly body?: string | undefined
  /** What it was answered; 0 when never. */
  readonly answer: number
}

const [journalPath = ''] = process.argv.slice(2)
const journal = openJournal(journalPath)
const known = new Set<string>()
const tries = new Map<string, number>()

/** How a webhook's receiver behaves: the status to answer with after a while, or 0 for never. */
interface Behaviour {
  readonly status: number
  readonly after: number
}

const MANNERS: Readonly<Record<string, (luck: number, tried: number) => Behaviour>> = {
  healthy: () => ({ status: 204, after: 0 }),
  slow: (luck) => ({ status: 200, after: luck % 40 }),
  // Fails once or twice, now and then by silence.
  flaky(luck, tried) {
    const fails = 1 + (luck % 2)
    if (tried > fails) return { status: 200, after: luck % 10 }
    return luck % 16 === 0 ? { status: 0, after: 0 } : { status: 500, after: luck % 10 }
  },
  failing: (luck) => ({ status: 503, after: luck % 20 }),
  // By its status each answer of a delivery is told from the others.
  patient: (luck, tried) => ({ status: Math.min(199 + tried, 299), after: 100 + (luck % 600) }),
}

function receive(request: IncomingMessage, response: ServerResponse): void {
  const at = Date.now()
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.once('error', () => undefined)
  request.once('end', () => {
    if (!request.complete) return
    const bytes = Buffer.concat(chunks)
    const path = request.url ?? ''
    const delivery = String(request.headers['x-service-delivery-id'])
    const hash = createHash('sha256').update(bytes).digest('hex')
    const tried = (tries.get(delivery) ?? 0) + 1
    tries.set(delivery, tried)
    const luck = Number.parseInt(delivery.slice(-6), 16)
    const manner = MANNERS[path.split('/')[1] ?? '']
    const { status, after } = manner?.(luck, tried) ?? { status: 404, after: 0 }
    const arrival: Arrival = {
      at,
      path,
      delivery,
      event: (JSON.parse(bytes.toString()) as { id: string }).id,
      hash,
      signature: String(request.headers['service-signature']),
      ...(known.has(hash) ? {} : { body: bytes.toString() }),
      answer: status,
    }
    known.add(hash)
    journal.write(arrival)
    if (status === 0) return
    setTimeout(() => response.writeHead(status).end(), after)
  })
}

const server = createServer(receive)
server.listen(0, '127.0.0.1', () => {
  process.send?.((server.address() as AddressInfo).port)
})
process.once('disconnect', () => process.exit(0))
