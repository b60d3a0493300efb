import type { SeededRandom } from '../support/seeded-random.ts'
import type { DatabaseName } from './database.ts'
import type { Failpoint } from './failpoint-table.ts'
import { FAILPOINTS } from './failpoint-table.ts'

/** One way to make the daemon die. */
export type Planned =
  | { readonly by: 'failpoint'; readonly point: Failpoint; readonly nth: number }
  /** Within two seconds of its service, by SIGKILL or told to stop. */
  | { readonly by: 'random' | 'term'; readonly after: number }
  /** It lives on while its database's server crashes. */
  | { readonly by: 'server'; readonly after: number }
  /** While it starts. */
  | { readonly by: 'boot'; readonly after: number }

export interface Plan {
  /** In their order, on the database as it is made. */
  readonly first: readonly Extract<Planned, { by: 'failpoint' }>[]
  readonly after: readonly Planned[]
}

export interface PlanOptions {
  readonly database: DatabaseName
  /** How many there are at least. */
  readonly kills: number
  /** Occurrences of each failpoint at which it dies. */
  readonly nth: number
  /** So many of the failpoints, chosen by the seed; all of them when absent. */
  readonly points: number | undefined
}

/** Failpoints at each of their occurrences, then random kills up to so many. */
export function makePlan(
  { database, kills, nth, points }: PlanOptions,
  random: SeededRandom,
): Plan {
  const known = FAILPOINTS.filter(({ only }) => only === undefined || only === database)
  const chosen = new Set(shuffle(known, random).slice(0, points))
  const swept = known
    .filter((point) => chosen.has(point))
    .flatMap((point) =>
      Array.from({ length: Math.min(nth, point.most ?? nth) }, (_, index) => ({
        by: 'failpoint' as const,
        point,
        nth: index + 1,
      })),
    )
  const first = swept.filter(({ point }) => point.boot === 'first')
  const sweep = shuffle(
    swept.filter(({ point }) => point.boot !== 'first'),
    random,
  )
  const left = Math.max(0, kills - swept.length)
  return {
    first,
    after: [
      ...sweep,
      ...Array.from({ length: left }, (_, index) => beyond(index, database, random)),
    ],
  }
}

/** Once in twelve it is told to stop, twice killed while it starts, and once its server crashes. */
function beyond(index: number, database: DatabaseName, random: SeededRandom): Planned {
  const way = index % 12
  if (way === 0) return { by: 'term', after: 50 + random.below(1000) }
  if (way === 2 && database === 'postgres') return { by: 'server', after: random.below(1500) }
  if (way === 1 || way === 7) return { by: 'boot', after: random.below(500) }
  return { by: 'random', after: 50 + random.below(1950) }
}

export function shuffle<T>(list: readonly T[], random: SeededRandom): readonly T[] {
  return list
    .map((one) => ({ one, rank: random.below(1_000_000) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ one }) => one)
}
