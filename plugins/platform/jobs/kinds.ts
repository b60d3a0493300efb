import type { Millis } from '../../../lib/time.ts'
import { DAY, HOUR, MINUTE } from '../../../lib/time.ts'

/** How the jobs of one kind differ from those of another. */
export interface JobKind {
  /**
   * Which is claimed next. `fair`: the oldest of the account with the fewest running. `due`: the one whose
   * `run_at` passed first.
   */
  readonly order: 'fair' | 'due'
  /** Claims of one job before it is given up; null for no limit. */
  readonly attempts: number | null
  /** From its first claim to its end; null for no limit. */
  readonly deadline: Millis | null
  /** Jobs that one process runs at once. */
  readonly concurrency: number
  /** No lease is longer: one that ends later was given by a clock that was ahead, and has ended. */
  readonly longestLease: Millis
  /** No `run_at` is further ahead: one that is was given by a clock that was ahead, and is due. */
  readonly furthest: Millis
}

/** Twice the longest lease that an operator can configure. */
const LONGEST_LEASE: Millis = 2 * HOUR

/** What runs in the background. */
export const JOB_KINDS = {
  edit: {
    order: 'fair',
    attempts: 3,
    deadline: 15 * MINUTE,
    concurrency: 4,
    longestLease: LONGEST_LEASE,
    furthest: 0,
  },
  file: {
    order: 'fair',
    attempts: 3,
    deadline: 15 * MINUTE,
    concurrency: 2,
    longestLease: LONGEST_LEASE,
    furthest: 0,
  },
  deployment: {
    order: 'fair',
    attempts: 3,
    deadline: 10 * MINUTE,
    concurrency: 2,
    longestLease: LONGEST_LEASE,
    furthest: 0,
  },
  // Most of the time of a check is spent waiting for name servers.
  domain_check: {
    order: 'due',
    attempts: null,
    deadline: null,
    concurrency: 8,
    longestLease: 2 * MINUTE,
    // Twice from one check of a verified domain to the next.
    furthest: 2 * DAY,
  },
  // Of an event of a payment processor, in the queue of the object that it tells of.
  billing_event: {
    order: 'fair',
    attempts: null,
    deadline: null,
    concurrency: 4,
    longestLease: LONGEST_LEASE,
    furthest: 0,
  },
  // One job for the whole installation.
  billing_sweep: {
    order: 'due',
    attempts: null,
    deadline: null,
    concurrency: 1,
    longestLease: 10 * MINUTE,
    furthest: 2 * DAY,
  },
} as const satisfies Readonly<Record<string, JobKind>>

/** Kinds of families of third parties, by family and name: `notes.digest`. */
export type ForeignKind = `${string}.${string}`

export type JobKindName = keyof typeof JOB_KINDS | ForeignKind

const FOREIGN: JobKind = {
  order: 'fair',
  attempts: 3,
  deadline: 15 * MINUTE,
  concurrency: 2,
  longestLease: LONGEST_LEASE,
  furthest: 0,
}

const FOREIGN_NAME = /^[a-z][a-z0-9]{0,19}\.[a-z][a-z0-9_]{0,31}$/

/** Whether it may be the kind of a job of a third party: it becomes text of statements. */
export function isForeignKind(kind: string): kind is ForeignKind {
  return FOREIGN_NAME.test(kind)
}

/** @throws TypeError for a name that is no kind */
export function jobKind(kind: JobKindName): JobKind {
  if (Object.hasOwn(JOB_KINDS, kind)) return JOB_KINDS[kind as keyof typeof JOB_KINDS]
  if (isForeignKind(kind)) return FOREIGN
  throw new TypeError(`${JSON.stringify(kind)} is no kind of job`)
}
