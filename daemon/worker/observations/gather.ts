import type { RandomBytes } from '../../../lib/engine/ports.ts'
import { uuid7Of } from '../../../lib/internal/uuid7.ts'
import type { Instant } from '../../../lib/time.ts'
import { DAY, toIso } from '../../../lib/time.ts'
import type {
  AccessLine,
  Meter,
  ToldProblem,
  UsageAddition,
} from '../../../plugins/store/contract/observations.ts'
import { METERS } from '../../../plugins/store/contract/observations.ts'
import type { BrowserReport, Observer, Served } from '../../hosting/site.ts'
import { describeProblem } from './describe.ts'
import { wellFormed } from './redact.ts'

/** Lines that wait in memory. */
export const MOST_LINES = 10_000
/** Of those beyond, so many go at once: what is dropped one by one moves all the others. */
const DROPPED_AT_ONCE = 1000
/** Different problems that wait in memory, of one app and of all. */
export const MOST_PROBLEMS_OF_APP = 100
export const MOST_PROBLEMS = 1000

const MAX_PATH = 1024
const MAX_ID = 64
const MAX_METHOD = 20

/** A problem whose edit is still to be found. */
export type GatheredProblem = Omit<ToldProblem, 'edit_id'> & {
  /** The deployment that the page said that it is of. */
  readonly said: string | null
}

/** What is written at once. */
export interface Batch {
  readonly number: number
  /** The latest instant of which anything is counted in it. */
  readonly as_of: Instant
  readonly lines: readonly AccessLine[]
  readonly usage: readonly UsageAddition[]
  readonly problems: readonly GatheredProblem[]
}

/** How much was left out. */
export interface Dropped {
  access_lines: number
  problems: number
}

/** What was observed and is not yet in a batch. */
export interface Gathering extends Observer {
  /** Everything there is, as the next batch; undefined when there is nothing. */
  take(): Batch | undefined
}

type Counters = Record<Meter, number>
type Counted = Pick<UsageAddition, 'app_id' | 'day' | 'kind'> & { readonly counters: Counters }

/** @param dropped counted up by what finds no room */
export function createGathering(random: RandomBytes, dropped: Dropped): Gathering {
  let number = 0
  let asOf: Instant = 0
  let lines: AccessLine[] = []
  let usage = new Map<string, Counted>()
  let problems = new Map<string, GatheredProblem>()
  let problemsOf = new Map<string, number>()

  const idAt = (at: Instant): string => uuid7Of(at, random(8))

  function count({ app_id, kind, at, status, bytes }: Served): void {
    const key = `${Math.floor(at / DAY)} ${kind} ${app_id}`
    let counted = usage.get(key)
    if (counted === undefined) {
      const counters: Counters = { requests: 0, errors: 0, not_found: 0, egress_bytes: 0 }
      counted = { app_id, day: toIso(at).slice(0, 10), kind, counters }
      usage.set(key, counted)
    }
    const { counters } = counted
    counters.requests += 1
    counters.egress_bytes += bytes
    if (status >= 500) counters.errors += 1
    else if (status === 404) counters.not_found += 1
    asOf = Math.max(asOf, at)
  }

  function addLine({ took, ...served }: Served): void {
    if (lines.length === MOST_LINES) {
      lines.splice(0, DROPPED_AT_ONCE)
      dropped.access_lines += DROPPED_AT_ONCE
    }
    lines.push({
      id: idAt(served.at),
      app_id: served.app_id,
      kind: served.kind,
      deployment_id: served.deployment_id,
      request_id: wellFormed(served.request_id, MAX_ID),
      at: served.at,
      method: wellFormed(served.method, MAX_METHOD),
      path: wellFormed(served.path, MAX_PATH),
      status: served.status,
      bytes: served.bytes,
      took_ms: Math.round(took),
    })
  }

  function addProblem(
    { app_id, kind, deployment_id }: Parameters<Observer['reported']>[0],
    report: BrowserReport,
    at: Instant,
  ): void {
    const described = describeProblem(report)
    const key = `${kind} ${described.fingerprint} ${app_id}`
    const known = problems.get(key)
    if (known !== undefined) {
      const { first_seen, last_seen } = known
      problems.set(key, {
        ...known,
        count: known.count + 1,
        first_seen: Math.min(first_seen, at),
        ...(at >= last_seen && { last_seen: at, sample: described.sample }),
      })
      return
    }
    const ofApp = problemsOf.get(app_id) ?? 0
    if (ofApp === MOST_PROBLEMS_OF_APP || problems.size === MOST_PROBLEMS) {
      dropped.problems += 1
      return
    }
    problemsOf.set(app_id, ofApp + 1)
    const seen = { id: idAt(at), app_id, kind, count: 1, first_seen: at, last_seen: at }
    problems.set(key, { ...described, ...seen, deployment_id, said: report.deployment_id })
  }

  return {
    served(request) {
      count(request)
      addLine(request)
    },
    reported(site, reports, at) {
      for (const report of reports) addProblem(site, report, at)
    },
    take() {
      if (usage.size === 0 && problems.size === 0) return undefined
      number += 1
      const batch = {
        number,
        as_of: asOf,
        lines,
        usage: [...usage.values()].flatMap(toAdditions),
        problems: [...problems.values()],
      }
      lines = []
      usage = new Map()
      problems = new Map()
      problemsOf = new Map()
      return batch
    },
  }
}

function toAdditions({ counters, ...counted }: Counted): readonly UsageAddition[] {
  return METERS.filter((meter) => counters[meter] > 0).map((meter) => ({
    ...counted,
    meter,
    amount: counters[meter],
  }))
}
