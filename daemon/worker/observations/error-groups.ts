import type { RandomBytes } from '../../../lib/engine/ports.ts'
import { uuid7Of } from '../../../lib/internal/uuid7.ts'
import type { Instant } from '../../../lib/time.ts'
import type { ToldErrors } from '../../../plugins/platform/contract/error-groups.ts'
import type { BrowserReport, Observer } from '../../hosting/site.ts'
import { describeError } from './describe.ts'
import { fullest } from './fullest.ts'

/** Maximum error groups in memory, per app and in total. */
export const MOST_ERROR_GROUPS_OF_APP = 100
export const MOST_ERROR_GROUPS = 1000

/** An error group whose edit is not known yet. */
export type GatheredErrors = Omit<ToldErrors, 'edit_id'> & {
  /** The deployment that the page claims. */
  readonly claimed_deployment_id: string | null
}

interface Waiting {
  readonly group: Omit<GatheredErrors, 'reporter'>
  /** The network that it counts for. */
  readonly network: string
}

type OfApp = Map<string, Waiting>

interface WaitingErrors {
  add(
    site: Parameters<Observer['reported']>[0],
    report: BrowserReport,
    at: Instant,
    network: string,
  ): void
  take(): readonly GatheredErrors[]
}

/**
 * Error groups with their counts, waiting to be written. When an app is full, a new error group replaces one of
 * the network with the most in it; when the total is reached, one of the app with the most. Neither happens to
 * a network or app that has no more than the new one.
 *
 * An error group that several networks report counts for the one with the fewest, so that nobody can use up the
 * share of others by reporting their errors first.
 *
 * @param dropped incremented by what is dropped
 */
export function createErrorGroups(
  random: RandomBytes,
  dropped: { problems: number },
): WaitingErrors {
  let groups = new Map<string, OfApp>()
  let count = 0

  function drop(from: OfApp, network?: string): void {
    const candidates = [...from].filter(
      ([, one]) => network === undefined || one.network === network,
    )
    const rarest = fullest(candidates, ([, { group }]) => -group.count)
    if (rarest !== undefined) from.delete(rarest[0])
    count -= 1
    dropped.problems += 1
  }

  function evictFor(ofApp: OfApp, network: string): boolean {
    if (ofApp.size === MOST_ERROR_GROUPS_OF_APP) {
      const shares = sharesOf(ofApp)
      const [loudest, share] = fullest(shares, ([, held]) => held) ?? ['', 0]
      if (share <= (shares.get(network) ?? 0) + 1) return false
      drop(ofApp, loudest)
    } else if (count >= MOST_ERROR_GROUPS) {
      const loudest = fullest(groups.values(), ({ size }) => size)
      if (loudest === undefined || loudest.size <= ofApp.size + 1) return false
      drop(loudest)
    }
    return true
  }

  return {
    add({ app_id, kind, deployment_id }, report, at, network) {
      const described = describeError(report)
      const key = `${kind} ${described.fingerprint}`
      const ofApp = groups.get(app_id) ?? new Map<string, Waiting>()
      const known = ofApp.get(key)
      if (known !== undefined) {
        const { first_seen, last_seen } = known.group
        const group = {
          ...known.group,
          count: known.group.count + 1,
          first_seen: Math.min(first_seen, at),
          ...(at >= last_seen && { last_seen: at, sample: described.sample }),
        }
        ofApp.set(key, { group, network: quieter(ofApp, known.network, network) })
      } else if (evictFor(ofApp, network)) {
        const id = uuid7Of(at, random(8))
        const seen = { id, app_id, kind, count: 1, first_seen: at, last_seen: at }
        const group = {
          ...described,
          ...seen,
          deployment_id,
          claimed_deployment_id: report.deployment_id,
        }
        ofApp.set(key, { group, network })
        groups.set(app_id, ofApp)
        count += 1
      } else {
        dropped.problems += 1
      }
    },
    take() {
      const reporters = new Map<string, number>()
      const taken = [...groups.values()].flatMap((ofApp) =>
        [...ofApp.values()].map(({ group, network }) => {
          const reporter = reporters.get(network) ?? reporters.size
          reporters.set(network, reporter)
          return { ...group, reporter }
        }),
      )
      groups = new Map()
      count = 0
      return taken
    },
  }
}

/** Number of error groups of an app by network. */
function sharesOf(ofApp: OfApp): ReadonlyMap<string, number> {
  const shares = new Map<string, number>()
  for (const { network } of ofApp.values()) shares.set(network, (shares.get(network) ?? 0) + 1)
  return shares
}

/** Of two networks that report the same, the one with fewer error groups. */
function quieter(ofApp: OfApp, known: string, other: string): string {
  if (known === other) return known
  const shares = sharesOf(ofApp)
  return (shares.get(other) ?? 0) < (shares.get(known) ?? 0) ? other : known
}
