import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delay, now } from '../clock.ts'
import { readStamp } from '../payload.ts'
import type { Percentiles } from '../percentiles.ts'
import { percentilesOf } from '../percentiles.ts'
import { serve } from '../serve.ts'

/** What arrived since it was last asked to begin anew; instants are microseconds. */
export interface Arrivals {
  readonly count: number
  readonly first: number
  readonly last: number
}

/** Of stamped requests: from when they were sent until they had arrived. */
export interface Waits extends Percentiles {
  /** How many arrived between the two instants. */
  readonly arrived: number
  readonly missing: number
}

export interface WaitsAsked {
  /** Sent at this instant or later, and counted as arrived until the other. */
  readonly from: number
  readonly to: number
  /** How many were sent in that time. */
  readonly sent: number
  /** How long to wait for those that are missing, which count as having waited so long. */
  readonly patienceMs: number
}

let arrivals: Arrivals = { count: 0, first: 0, last: 0 }
let stamped: { readonly sent: number; readonly arrived: number }[] = []
let awaited: { readonly count: number; readonly resolve: () => void } | undefined

function note(): number {
  const last = now()
  arrivals = { count: arrivals.count + 1, first: arrivals.first || last, last }
  if (awaited !== undefined && arrivals.count >= awaited.count) awaited.resolve()
  return last
}

function accept(request: IncomingMessage, response: ServerResponse): void {
  request.resume()
  request.once('end', () => {
    note()
    response.statusCode = 204
    response.end()
  })
}

function acceptStamped(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.once('end', () => {
    stamped.push({ sent: readStamp(Buffer.concat(chunks)), arrived: note() })
    response.statusCode = 204
    response.end()
  })
}

/** What each path does with a request. */
const PATHS: Readonly<Record<string, RequestListener>> = {
  '/in': accept,
  '/stamped': acceptStamped,
  '/hang': (request) => {
    request.resume()
  },
}

async function listen(): Promise<string> {
  const server = createServer((request, response) => {
    PATHS[request.url ?? '']?.(request, response)
  })
  server.keepAliveTimeout = 30_000
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** As many origins, each a port of its own. */
function origins(count: number): Promise<readonly string[]> {
  return Promise.all(Array.from({ length: count }, listen))
}

function begin(): void {
  arrivals = { count: 0, first: 0, last: 0 }
  stamped = []
}

async function until(count: number): Promise<Arrivals> {
  if (arrivals.count < count) {
    await new Promise<void>((resolve) => {
      awaited = { count, resolve }
    })
    awaited = undefined
  }
  return arrivals
}

async function waits({ from, to, sent, patienceMs }: WaitsAsked): Promise<Waits> {
  const end = now() + patienceMs * 1000
  const own = (): number => stamped.filter((one) => one.sent >= from).length
  while (own() < sent && now() < end) await delay(20)
  const arrived = stamped.filter((one) => one.sent >= from)
  const missing = Math.max(0, sent - arrived.length)
  const times = arrived.map((one) => one.arrived - one.sent)
  return {
    ...percentilesOf([...times, ...Array<number>(missing).fill(patienceMs * 1000)]),
    arrived: stamped.filter((one) => one.arrived >= from && one.arrived <= to).length,
    missing,
  }
}

serve({ start: listen, origins, begin, until, waits, arrivals: () => arrivals })
