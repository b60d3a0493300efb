import type { RandomBytes } from '../../../lib/engine/ports.ts'
import { uuid7Of } from '../../../lib/internal/uuid7.ts'
import type { Instant } from '../../../lib/time.ts'
import type { ToldProblem } from '../../../plugins/store/contract/observations.ts'
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

type OfApp = Map<string, GatheredProblem>

interface WaitingProblems {
  add(site: Parameters<Observer['reported']>[0], report: BrowserReport, at: Instant): void
  take(): readonly GatheredProblem[]
}

/**
 * Problems that wait to be written, each of which counts on. For a new one there is room while its app
 * has few, and once all have too many the app with most gives it, where that leaves it no fewer.
 *
 * @param dropped counted up by what finds no room
 */
export function createProblems(
  random: RandomBytes,
  dropped: { problems: number },
): WaitingProblems {
  let problems = new Map<string, OfApp>()
  let count = 0

  function makeRoom(ofApp: OfApp): boolean {
    if (ofApp.size === MOST_PROBLEMS_OF_APP) return false
    if (count < MOST_PROBLEMS) return true
    const loudest = fullest(problems.values(), ({ size }) => size)
    if (loudest === undefined || loudest.size <= ofApp.size + 1) return false
    const rarest = fullest(loudest, ([, one]) => -one.count)
    if (rarest !== undefined) loudest.delete(rarest[0])
    count -= 1
    dropped.problems += 1
    return true
  }

  return {
    add({ app_id, kind, deployment_id }, report, at) {
      const described = describeProblem(report)
      const key = `${kind} ${described.fingerprint}`
      const ofApp = problems.get(app_id) ?? new Map<string, GatheredProblem>()
      const known = ofApp.get(key)
      if (known !== undefined) {
        const { first_seen, last_seen } = known
        ofApp.set(key, {
          ...known,
          count: known.count + 1,
          first_seen: Math.min(first_seen, at),
          ...(at >= last_seen && { last_seen: at, sample: described.sample }),
        })
      } else if (makeRoom(ofApp)) {
        const id = uuid7Of(at, random(8))
        const seen = { id, app_id, kind, count: 1, first_seen: at, last_seen: at }
        ofApp.set(key, { ...described, ...seen, deployment_id, said: report.deployment_id })
        problems.set(app_id, ofApp)
        count += 1
      } else {
        dropped.problems += 1
      }
    },
    take() {
      const taken = [...problems.values()].flatMap((ofApp) => [...ofApp.values()])
      problems = new Map()
      count = 0
      return taken
    },
  }
}
