import type { Figure, Values } from '../figure.ts'
import { TYPE, publishing, publishingBatch } from '../payload.ts'
import type { Database } from '../place.ts'
import type { Made } from '../roles/daemon.ts'
import type { LoadResult } from '../roles/load.ts'
import type { Round } from '../round.ts'

const PUBLISHING = { method: 'POST', path: '/v1/events', status: 202 } as const
const BATCH = 100

interface Accepted extends LoadResult {
  readonly perCommit: number
}

/** Publishes to a daemon that sends nothing; each event is born with a delivery. */
async function acceptOn(
  round: Round,
  database: Database,
  body: string,
  events: number,
): Promise<Accepted> {
  const { origin: receiver } = await round.receiver()
  const place = await round.place(database)
  const { child, origin } = await round.daemon({ env: envOf(place.env), dispatch: false })
  const { key } = await child.call<Made>('make', [{ type: TYPE, url: `${receiver}/in` }])
  const result = await round.load({ ...PUBLISHING, origin, key, bodies: [body] })
  const accepted = await child.call<{ events: number; commits: number }>('accepted')
  if (accepted.events < result.sent * events) throw new Error('not every event was accepted')
  await child.end()
  return { ...result, perCommit: accepted.events / accepted.commits }
}

function envOf(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return { ...env, KEYHOOK_EVENT_TYPES: TYPE }
}

async function bareAccept(round: Round): Promise<LoadResult> {
  const child = round.start('bare-accept')
  const origin = await child.call<string>('start')
  const result = await round.load({ ...PUBLISHING, origin, bodies: [publishing()] })
  await child.end()
  return result
}

async function measureAccept(round: Round, database: Database): Promise<Values> {
  const bare = await bareAccept(round)
  const own = await acceptOn(round, database, publishing(), 1)
  return {
    ratio: own.perSecond / bare.perSecond,
    'accepted/s': own.perSecond,
    'bare/s': bare.perSecond,
    'p50 ms': own.p50,
    'p99 ms': own.p99,
    'events per commit': own.perCommit,
  }
}

async function measureBatches(round: Round): Promise<Values> {
  const child = round.start('bare-insert')
  const { file } = await round.place('sqlite')
  // As many rows as the outbox puts into one commit of such requests.
  const bare = await child.call<number>('insert', { file, rows: 2 * BATCH, seconds: round.seconds })
  await child.end()
  const own = await acceptOn(round, 'sqlite', publishingBatch(BATCH), BATCH)
  const perSecond = own.perSecond * BATCH
  return {
    ratio: perSecond / bare,
    'accepted/s': perSecond,
    'bare/s': bare,
    'p50 ms': own.p50,
    'p99 ms': own.p99,
    'events per commit': own.perCommit,
  }
}

const BARE_KOA = 'Koa and its router with the same body reader'

export const accept: readonly Figure[] = [
  {
    name: 'accept-sqlite',
    title: 'events accepted per second, one per request, SQLite',
    baseline: BARE_KOA,
    goals: [{ value: 'ratio', at_least: 0.5 }],
    takes: 8,
    measure: (round) => measureAccept(round, 'sqlite'),
  },
  {
    name: 'accept-postgres',
    title: 'events accepted per second, one per request, PostgreSQL',
    baseline: BARE_KOA,
    goals: [{ value: 'ratio', at_least: 0.4 }],
    takes: 9,
    measure: (round) => measureAccept(round, 'postgres'),
  },
  {
    name: 'accept-batches',
    title: `events accepted per second, ${BATCH} per request, SQLite`,
    baseline: 'multi-row inserts of the same rows',
    goals: [{ value: 'ratio', at_least: 0.5 }],
    takes: 8,
    measure: measureBatches,
  },
]
