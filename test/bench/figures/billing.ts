import { APPS_ENV, openClient } from '../apps.ts'
import type { Figure, Values } from '../figure.ts'
import { SPENDER } from '../ledger.ts'
import type { Database } from '../place.ts'
import type { Round } from '../round.ts'
import type { Stock } from '../stock.ts'

async function measureSpending(round: Round, database: Database): Promise<Values> {
  const rateOf = async (role: string, call: string): Promise<number> => {
    const { file, url } = await round.place(database)
    const child = round.start(role)
    const asked = { database: url ?? file, seconds: round.seconds }
    const rate = await child.call<number>(call, asked)
    await child.end()
    return rate
  }
  const bare = await rateOf('bare-ledger', 'insert')
  const own = await rateOf('hold-capture', 'spend')
  return { ratio: own / bare, 'pairs/s': own, 'bare/s': bare }
}

const FEW = 1000
const MANY = 1_000_000

function stockOf(entries: number): Stock {
  return { name: `ledger of ${entries}`, pending: 0, webhooks: 0, finished: 0, entries }
}

/** Milliseconds of the median page, one after the other. */
async function pageOf(round: Round, database: Database, entries: number): Promise<number> {
  const { env } = await round.place(database, stockOf(entries))
  const { child, origin } = await round.daemon({
    env: { ...env, ...APPS_ENV, KEYHOOK_BILLING: 'internal' },
    dispatch: false,
  })
  const { key } = await openClient(origin, SPENDER)
  const reading = { method: 'GET', path: '/v1/billing/ledger?limit=50', status: 200 } as const
  const { p50 } = await round.load({ ...reading, origin, key, connections: 1 })
  await child.end()
  return p50
}

async function measurePage(round: Round, database: Database): Promise<Values> {
  const few = await pageOf(round, database, FEW)
  const many = await pageOf(round, database, MANY)
  return { ratio: few / many, 'ms at 10^3': few, 'ms at 10^6': many }
}

const DATABASES = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const

export const billing: readonly Figure[] = (['sqlite', 'postgres'] as const).flatMap((database) => [
  {
    name: `hold-capture-${database}`,
    title: `pairs of a hold and its capture per second, one after the other, ${DATABASES[database]}`,
    baseline: 'the same rows inserted, in as many commits',
    goals: [],
    takes: 12,
    measure: (round) => measureSpending(round, database),
  },
  {
    name: `ledger-page-${database}`,
    title: `p50 of a page of 50 of a ledger of 10^6 entries, ${DATABASES[database]}`,
    baseline: 'a ledger of 10^3',
    goals: [{ value: 'ratio', at_least: 0.7 }],
    takes: 14,
    measure: (round) => measurePage(round, database),
  },
])
