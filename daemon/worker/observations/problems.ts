import type { RandomBytes } from '../../../lib/engine/ports.ts'
import { uuid7Of } from '../../../lib/internal/uuid7.ts'
import type { Instant } from '../../../lib/time.ts'
import type { ToldProblem } from '../../../plugins/platform/contract/observations.ts'
import type { BrowserReport, Observer } from '../../hosting/site.ts'
import { describeProblem } from './describe.ts'
import { fullest } from './fullest.ts'

/** Different problems that wait in memory, of one app and of all. */
export const MOST_PROBLEMS_OF_APP = 100
export const MOST_PROBLEMS = 1000

/** A problem whose edit is still to be found. */
export type GatheredProblem = Omit<ToldProblem, 'edit_id'> & {
  /** The deployment that the page said that it is of. */
  readonly said: string | null
}

interface Waiting {
  readonly problem: Omit<GatheredProblem, 'reporter'>
  /** The network that it is counted for. */
  readonly network: string
}

type OfApp = Map<string, Waiting>

interface WaitingProblems {
  add(
    site: Parameters<Observer['reported']>[0],
    report: BrowserReport,
    at: Instant,
    network: string,
  ): void
  take(): readonly GatheredProblem[]
}

/**
 * Problems that wait to be written, each of which counts on. A full app makes room for a new problem at
 * the cost of the network with the most problems in it; when all apps together have too many, at the cost
 * of the app with the most. Neither takes a place from somebody who has no more than the newcomer.
 *
 * A problem that several networks report is counted for the one with the fewest, so that nobody can use
 * up the share of others by reporting their errors first.
 *
 * @param dropped counted up by what finds no room
 */
export function createProblems(
  random: RandomBytes,
  dropped: { problems: number },
): WaitingProblems {
  let problems = new Map<string, OfApp>()
  let count = 0

  function drop(from: OfApp, network?: string): void {
    const candidates = [...from].filter(
      ([, one]) => network === undefined || one.network === network,
    )
    const rarest = fullest(candidates, ([, { problem }]) => -problem.count)
    if (rarest !== undefined) from.delete(rarest[0])
    count -= 1
    dropped.problems += 1
  }

  function makeRoom(ofApp: OfApp, network: string): boolean {
    if (ofApp.size === MOST_PROBLEMS_OF_APP) {
      const shares = sharesOf(ofApp)
      const [loudest, share] = fullest(shares, ([, held]) => held) ?? ['', 0]
      if (share <= (shares.get(network) ?? 0) + 1) return false
      drop(ofApp, loudest)
    } else if (count >= MOST_PROBLEMS) {
      const loudest = fullest(problems.values(), ({ size }) => size)
      if (loudest === undefined || loudest.size <= ofApp.size + 1) return false
      drop(loudest)
    }
    return true
  }

  return {
    add({ app_id, kind, deployment_id }, report, at, network) {
      const described = describeProblem(report)
      const key = `${kind} ${described.fingerprint}`
      const ofApp = problems.get(app_id) ?? new Map<string, Waiting>()
      const known = ofApp.get(key)
      if (known !== undefined) {
        const { first_seen, last_seen } = known.problem
        const problem = {
          ...known.problem,
          count: known.problem.count + 1,
          first_seen: Math.min(first_seen, at),
          ...(at >= last_seen && { last_seen: at, sample: described.sample }),
        }
        ofApp.set(key, { problem, network: quieter(ofApp, known.network, network) })
      } else if (makeRoom(ofApp, network)) {
        const id = uuid7Of(at, random(8))
        const seen = { id, app_id, kind, count: 1, first_seen: at, last_seen: at }
        const problem = { ...described, ...seen, deployment_id, said: report.deployment_id }
        ofApp.set(key, { problem, network })
        problems.set(app_id, ofApp)
        count += 1
      } else {
        dropped.problems += 1
      }
    },
    take() {
      const reporters = new Map<string, number>()
      const taken = [...problems.values()].flatMap((ofApp) =>
        [...ofApp.values()].map(({ problem, network }) => {
          const reporter = reporters.get(network) ?? reporters.size
          reporters.set(network, reporter)
          return { ...problem, reporter }
        }),
      )
      problems = new Map()
      count = 0
      return taken
    },
  }
}

/** How many problems of an app are counted for each network. */
function sharesOf(ofApp: OfApp): ReadonlyMap<string, number> {
  const shares = new Map<string, number>()
  for (const { network } of ofApp.values()) shares.set(network, (shares.get(network) ?? 0) + 1)
  return shares
}

/** Of two networks that report the same the one with fewer problems. */
function quieter(ofApp: OfApp, known: string, other: string): string {
  if (known === other) return known
  const shares = sharesOf(ofApp)
  return (shares.get(other) ?? 0) < (shares.get(known) ?? 0) ? other : known
}
