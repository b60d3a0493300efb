import type { RandomBytes } from '../../../lib/engine/ports.ts'
import type { Instant } from '../../../lib/time.ts'
import { DAY, toIso } from '../../../lib/time.ts'
import type {
  AccessLine,
  Meter,
  UsageAddition,
} from '../../../plugins/platform/contract/observations.ts'
import { METERS } from '../../../plugins/platform/contract/observations.ts'
import type { Observer, Served } from '../../hosting/site.ts'
import { createLines } from './lines.ts'
import type { GatheredErrors } from './error-groups.ts'
import { createErrorGroups } from './error-groups.ts'

/** Observations that are written in one unit of work. */
export interface Batch {
  readonly number: number
  /** The latest instant counted in it. */
  readonly as_of: Instant
  readonly lines: readonly AccessLine[]
  readonly usage: readonly UsageAddition[]
  readonly groups: readonly GatheredErrors[]
}

/** Numbers of dropped observations. */
export interface Dropped {
  access_lines: number
  problems: number
}

/** Observations that are not in a batch yet. */
export interface Gathering extends Observer {
  /** All of them as the next batch; undefined for none. */
  take(): Batch | undefined
}

type Counters = Record<Meter, number>
type Counted = Pick<UsageAddition, 'app_id' | 'day' | 'kind'> & { readonly counters: Counters }

/** @param dropped incremented by what is dropped */
export function createGathering(random: RandomBytes, dropped: Dropped): Gathering {
  let number = 0
  let asOf: Instant = 0
  let usage = new Map<string, Counted>()
  const lines = createLines(random, dropped)
  const groups = createErrorGroups(random, dropped)

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

  return {
    served(request) {
      count(request)
      lines.add(request)
    },
    reported(site, reports, at, network) {
      for (const report of reports) groups.add(site, report, at, network)
    },
    take() {
      const errors = groups.take()
      if (usage.size === 0 && errors.length === 0) return undefined
      number += 1
      const batch = {
        number,
        as_of: asOf,
        lines: lines.take(),
        usage: [...usage.values()].flatMap(toAdditions),
        groups: errors,
      }
      usage = new Map()
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
