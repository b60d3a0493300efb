import { APPS_ENV, openClient } from '../apps.ts'
import type { Figure, Values } from '../figure.ts'
import { SHAPES, chooseFrom, queryOf } from '../language.ts'
import { SEARCHED } from '../passages.ts'
import type { Database } from '../place.ts'
import type { Round } from '../round.ts'
import type { Stock } from '../stock.ts'

const QUERIES = 64
/** Long enough for a 99th of a hundred to mean something. */
const TIMES = 2.5

/** At the default backlog of 100,000: as many passages. */
function stockOf(passages: number): Stock {
  return { name: `${passages} passages`, pending: 0, webhooks: 0, finished: 0, passages }
}

/** Asks one query after the other, each shape for itself. */
async function measure(round: Round, database: Database): Promise<Values> {
  const { env } = await round.place(database, stockOf(round.backlog))
  const { child, origin } = await round.daemon({ env: { ...env, ...APPS_ENV }, dispatch: false })
  const { key } = await openClient(origin, SEARCHED.account)
  const choose = chooseFrom(2)
  const values: Record<string, number> = {}
  for (const [name, shape] of Object.entries(SHAPES)) {
    const bodies = Array.from({ length: QUERIES }, () =>
      JSON.stringify({ query: queryOf(choose, shape) }),
    )
    const { p50, p99, sent } = await round.load({
      origin,
      method: 'POST',
      path: `/v1/apps/${SEARCHED.app}/files/search`,
      status: 200,
      key,
      bodies,
      connections: 1,
      seconds: round.seconds * TIMES,
    })
    Object.assign(values, {
      [`${name}: p50 ms`]: p50,
      [`${name}: p99 ms`]: p99,
      [`${name}: n`]: sent,
    })
  }
  await child.end()
  return values
}

const DATABASES = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const

export const search: readonly Figure[] = (['sqlite', 'postgres'] as const).map((database) => ({
  name: `search-${database}`,
  title: `search in an app of 10^5 passages, one request at a time, ${DATABASES[database]}`,
  baseline: null,
  goals: [],
  takes: 24,
  measure: (round) => measure(round, database),
}))
