import type { Figure, Values } from '../figure.ts'
import { MASTER_KEY } from '../place.ts'
import type { BareRow } from '../roles/bare-read.ts'
import type { Made } from '../roles/daemon.ts'
import type { LoadResult } from '../roles/load.ts'
import type { Round } from '../round.ts'

const READING = { method: 'GET', status: 200 } as const

/** The limit is counted, and is never reached. */
const READS = { KEYHOOK_RATE_READS: '1000000' }

/** A daemon with one webhook, asked for what `pathOf` says. */
async function readDaemon(
  round: Round,
  pathOf: (made: Made) => string,
): Promise<{ load: LoadResult; path: string; file: string; record: object }> {
  const { origin: receiver } = await round.receiver()
  const place = await round.place('sqlite')
  const daemon = await round.daemon({ env: { ...place.env, ...READS }, dispatch: true })
  const { origin } = daemon
  const webhook = { type: 'app.created', url: `${receiver}/in` }
  const made = await daemon.child.call<Made>('make', [webhook])
  const path = pathOf(made)
  const headers = { authorization: `Bearer ${made.key}` }
  const record = (await (await fetch(origin + path, { headers })).json()) as object
  const load = await round.load({ ...READING, origin, path, key: made.key })
  await daemon.child.end()
  return { load, path, file: place.file, record }
}

export function compare(own: LoadResult, bare: LoadResult): Values {
  return {
    ratio: own.perSecond / bare.perSecond,
    'answered/s': own.perSecond,
    'bare/s': bare.perSecond,
    'p50 ms': own.p50,
    'p99 ms': own.p99,
  }
}

async function measureSelf(round: Round): Promise<Values> {
  const { load, path, record } = await readDaemon(round, () => '/v1/keys/self')
  const bare = round.start('bare-read')
  const origin = await bare.call<string>('startRecord', record)
  return compare(load, await round.load({ ...READING, origin, path }))
}

async function measureRow(round: Round): Promise<Values> {
  const { load, path, file } = await readDaemon(
    round,
    ({ webhooks }) => `/v1/webhooks/${webhooks[0] ?? ''}`,
  )
  const bare = round.start('bare-read')
  const row: BareRow = { file, table: 'keyhook_webhooks', path: '/v1/webhooks/:id' }
  const origin = await bare.call<string>('startRow', row)
  return compare(load, await round.load({ ...READING, origin, path }))
}

async function measureVerify(round: Round): Promise<Values> {
  const { folder } = await round.place('sqlite')
  const child = round.start('verify')
  const { verified, hashed } = await child.call<{ verified: number; hashed: number }>('verify', {
    dataDir: folder,
    masterKey: MASTER_KEY,
    seconds: round.seconds / 2,
  })
  return { ratio: verified / hashed, 'verified/s': verified, 'hashed/s': hashed }
}

export const reads: readonly Figure[] = [
  {
    name: 'verify',
    title: 'keys verified per second in process, from the cache, with a scope',
    baseline: 'SHA-256 of the token',
    goals: [{ value: 'ratio', at_least: 0.4 }],
    takes: 4,
    measure: measureVerify,
  },
  {
    name: 'get-self',
    title: 'GET /v1/keys/self per second, from memory',
    baseline: 'Koa and its router, the same record',
    goals: [{ value: 'ratio', at_least: 0.6 }],
    takes: 8,
    measure: measureSelf,
  },
  {
    name: 'get-row',
    title: 'GET /v1/webhooks/{id} per second, one row, SQLite',
    baseline: 'Koa and its router, the same query',
    goals: [{ value: 'ratio', at_least: 0.5 }],
    takes: 8,
    measure: measureRow,
  },
]
