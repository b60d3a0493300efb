import type { Figure, Values } from '../figure.ts'
import { TYPE } from '../payload.ts'
import type { Database } from '../place.ts'
import type { Round } from '../round.ts'
import type { Stock } from '../stock.ts'
import { backlogOf } from '../stock.ts'

/** What a process holds in memory, of four webhooks, as one may have 384 under way and queued. */
const BURST = { webhooks: 4, each: 375 } as const
/** A part is kept back for who has nothing under way: the others have 64 at once. */
const SENDING = { KEYHOOK_DISPATCH_CONCURRENCY: '80' }
const ORIGINS = 1000
const LOOP = 'a bare undici loop that signs'
/** What is handed over in memory is not what comes out of the table. */
const IN_MEMORY = { value: 'part read back', at_most: 0.01 } as const

async function measureHandover(round: Round, database: Database): Promise<Values> {
  const bare = await round.bareDeliver()
  const { origin } = await round.receiver()
  const { env } = await round.place(database)
  const engine = round.start('engine')
  const webhooks = Array.from({ length: BURST.webhooks }, (_, number) => ({
    account: 'acc_0',
    type: `${TYPE}.to_${number}`,
    url: `${origin}/in`,
  }))
  await engine.call('open', { ...env, ...SENDING })
  await engine.call('webhooks', webhooks)
  const { perSecond, readBack } = await engine.call<{ perSecond: number; readBack: number }>(
    'handOver',
    { webhooks, each: BURST.each, seconds: round.seconds },
  )
  await engine.end()
  return {
    ratio: perSecond / bare,
    'delivered/s': perSecond,
    'bare/s': bare,
    'part read back': readBack,
  }
}

/** Deliveries a second of what a place holds, from the start of sending until all is recorded. */
export async function drainRate(round: Round, database: Database, stock: Stock): Promise<number> {
  const { env } = await round.place(database, stock)
  const { child } = await round.receiver()
  const engine = round.start('engine')
  await engine.call('open', env)
  const rate = await engine.call<number>('drain', stock.pending)
  const { count } = await child.call<{ count: number }>('arrivals')
  if (count < stock.pending) throw new Error(`only ${count} of ${stock.pending} arrived`)
  await engine.end()
  return rate
}

async function measureDrain(round: Round, database: Database, stock: Stock): Promise<Values> {
  const bare = await round.bareDeliver()
  const rate = await drainRate(round, database, stock)
  return { ratio: rate / bare, 'delivered/s': rate, 'bare/s': bare }
}

function originsStock(backlog: number): Stock {
  const each = Math.ceil(backlog / ORIGINS)
  const pending = each * ORIGINS
  return { name: `backlog over ${ORIGINS} origins`, pending, webhooks: ORIGINS, finished: 0 }
}

export const deliver: readonly Figure[] = [
  {
    name: 'deliver-memory-sqlite',
    title: 'deliveries per second, handed over in memory, SQLite',
    baseline: LOOP,
    goals: [{ value: 'ratio', at_least: 0.7 }, IN_MEMORY],
    takes: 8,
    measure: (round) => measureHandover(round, 'sqlite'),
  },
  {
    name: 'deliver-memory-postgres',
    title: 'deliveries per second, handed over in memory, PostgreSQL',
    baseline: LOOP,
    goals: [{ value: 'ratio', at_least: 0.5 }, IN_MEMORY],
    takes: 8,
    measure: (round) => measureHandover(round, 'postgres'),
  },
  {
    name: 'deliver-backlog-sqlite',
    title: 'deliveries per second from a backlog, SQLite',
    baseline: LOOP,
    goals: [{ value: 'ratio', at_least: 0.55 }],
    takes: 12,
    measure: (round) => measureDrain(round, 'sqlite', backlogOf(round.backlog)),
  },
  {
    name: 'deliver-backlog-postgres',
    title: 'deliveries per second from a backlog, PostgreSQL',
    baseline: LOOP,
    goals: [{ value: 'ratio', at_least: 0.4 }],
    takes: 18,
    measure: (round) => measureDrain(round, 'postgres', backlogOf(round.backlog)),
  },
  {
    name: 'deliver-origins-sqlite',
    title: `deliveries per second from a backlog for ${ORIGINS} origins, SQLite`,
    baseline: LOOP,
    goals: [{ value: 'ratio', at_least: 0.5 }],
    takes: 14,
    measure: (round) => measureDrain(round, 'sqlite', originsStock(round.backlog)),
  },
]
