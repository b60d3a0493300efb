/**
 * `npm run bench`: every figure as a ratio to a baseline of the same round, since the machine drifts.
 *
 * Options: --rounds N (default 5), --seconds N of load (default 3), --backlog N (default 30000).
 */
import { execFileSync } from 'node:child_process'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import type { Child } from './child.ts'
import { startChild } from './child.ts'
import type { LoadRequest, LoadResult } from './load.ts'

const CONNECTIONS = 64

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    backlog: { type: 'string', default: '30000' },
  },
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
const backlog = Number(values.backlog)

/** About 1 KB, with the quotes and escapes that real payloads have. */
const data = JSON.stringify({
  order: 'o_42',
  lines: Array.from({ length: 12 }, (_, index) => ({
    sku: `sku-${index}`,
    text: 'A "quoted" line\nwith breaks',
    price: 1999 + index,
  })),
})
const body = `{"type":"bench.happened","data":${data}}`

interface Round {
  readonly bareAccept: LoadResult
  readonly accept: LoadResult
  readonly bareDeliver: number
  readonly drain: number
  readonly both: LoadResult
}

async function using<T>(role: string, work: (child: Child) => Promise<T>): Promise<T> {
  const child = startChild(role)
  try {
    return await work(child)
  } finally {
    await child.end()
  }
}

function load(origin: string, key = ''): Promise<LoadResult> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
  const request: LoadRequest = {
    origin,
    path: '/v1/events',
    headers,
    body,
    connections: CONNECTIONS,
    seconds,
  }
  return using('load', (child) => child.call<LoadResult>('load', request))
}

function accepting(receiver: string, dispatch: boolean): Promise<LoadResult> {
  return using('keyhook', async (child) => {
    const { origin, key } = await child.call<{ origin: string; key: string }>('start', {
      receiver,
      dispatch,
    })
    const result = await load(origin, key)
    await child.call('stop')
    return result
  })
}

async function round(): Promise<Round> {
  return using('receiver', async (receiving) => {
    const receiver = await receiving.call<string>('start')
    const bareAccept = await using('bare-accept', async (child) =>
      load(await child.call<string>('start')),
    )
    const accept = await accepting(receiver, false)
    const bareDeliver = await using('bare-deliver', (child) =>
      child.call<number>('deliver', {
        origin: receiver,
        body,
        connections: CONNECTIONS,
        count: backlog,
      }),
    )
    const drain = await using('keyhook', async (child) => {
      await child.call('start', { receiver, dispatch: false })
      const rate = await child.call<number>('drainBacklog', { count: backlog, data })
      await child.call('stop')
      return rate
    })
    const both = await accepting(receiver, true)
    return { bareAccept, accept, bareDeliver, drain, both }
  })
}

function spread(samples: readonly number[]): { median: number; min: number; max: number } {
  const sorted = [...samples].sort((a, b) => a - b)
  const at = (index: number): number => Number((sorted[index] ?? 0).toPrecision(4))
  return { median: at(Math.floor(sorted.length / 2)), min: at(0), max: at(sorted.length - 1) }
}

await round()
const measured: Round[] = []
for (let index = 0; index < rounds; index++) measured.push(await round())

const ratio = (of: (one: Round) => number): ReturnType<typeof spread> => spread(measured.map(of))
const sumOf = ({ bareAccept, bareDeliver }: Round): number =>
  1 / (1 / bareAccept.perSecond + 1 / bareDeliver)
const report = {
  commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
  node: process.version,
  cores: cpus().length,
  rounds,
  payload_bytes: Buffer.byteLength(body),
  connections: CONNECTIONS,
  ratios: {
    'accepted/s, SQLite FULL, to a bare Koa + router POST': ratio(
      ({ accept, bareAccept }) => accept.perSecond / bareAccept.perSecond,
    ),
    'delivered/s, a backlog read from SQLite, to a bare undici loop that signs': ratio(
      ({ drain, bareDeliver }) => drain / bareDeliver,
    ),
    'both at once, SQLite, to the harmonic sum of the two': ratio(
      (one) => one.both.perSecond / sumOf(one),
    ),
  },
  absolute: {
    'bare accepted/s': ratio(({ bareAccept }) => bareAccept.perSecond),
    'accepted/s': ratio(({ accept }) => accept.perSecond),
    'accepted p50 ms': ratio(({ accept }) => accept.p50),
    'accepted p99 ms': ratio(({ accept }) => accept.p99),
    'bare delivered/s': ratio(({ bareDeliver }) => bareDeliver),
    'delivered/s from a backlog': ratio(({ drain }) => drain),
    'accepted and delivered/s': ratio(({ both }) => both.perSecond),
    'accepted p99 ms while delivering': ratio(({ both }) => both.p99),
  },
}
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
