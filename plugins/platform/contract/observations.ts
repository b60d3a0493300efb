import type { Instant, Millis } from '../../../lib/time.ts'
import type { Page, PageQuery } from '../../store/contract/page.ts'

/** What was looked at: the live release, or what an app's files are at present. */
export const OBSERVED_KINDS = ['published', 'preview'] as const

export type ObservedKind = (typeof OBSERVED_KINDS)[number]

/** What of the requests to an app is counted. */
export const METERS = ['requests', 'errors', 'not_found', 'egress_bytes'] as const

export type Meter = (typeof METERS)[number]

/** One request to an app. */
export interface AccessLine {
  /** Unique, and of its instant as `uuid7Of` makes it. */
  readonly id: string
  readonly app_id: string
  readonly kind: ObservedKind
  readonly deployment_id: string | null
  readonly request_id: string
  readonly at: Instant
  readonly method: string
  readonly path: string
  readonly status: number
  /** Of the body that was sent. */
  readonly bytes: number
  readonly took_ms: Millis
}

/** A line with its place in the order in which lines were added, which nothing comes before any more. */
export interface PlacedLine extends AccessLine {
  /** Above 0. */
  readonly position: number
}

/** Lines of one app in the order in which they were added. */
export interface TailQuery {
  readonly app_id: string
  readonly kind: ObservedKind | null
  /** The position that the lines come after; null for the newest lines. */
  readonly after: number | null
  readonly limit: number
}

export interface LineQuery extends PageQuery {
  readonly app_id: string
  readonly kind: ObservedKind | null
  /** The first digit of the status. */
  readonly status_class: number | null
  readonly since: Instant | null
  readonly until: Instant | null
  /** What the path begins with, as it is written. */
  readonly path: string | null
  readonly deployment_id: string | null
}

/** What is to be added to a counter of one day. */
export interface UsageAddition {
  readonly app_id: string
  /** Of UTC: `2026-01-31`. */
  readonly day: string
  readonly kind: ObservedKind
  readonly meter: Meter
  readonly amount: number
}

export interface UsageRecord extends Omit<UsageAddition, 'app_id' | 'amount'> {
  readonly total: number
  /** The latest instant of which anything is counted in it. */
  readonly as_of: Instant
}

/** One occurrence of a problem, to show what it looks like. */
export interface ProblemSample {
  readonly message: string
  readonly stack: string | null
  readonly url: string
}

export const PROBLEM_STATUSES = ['open', 'resolved'] as const

export type ProblemStatus = (typeof PROBLEM_STATUSES)[number]

/** What is told of occurrences that are one problem. */
export interface ToldProblem {
  /** Which it bears if it was not known before. Time-ordered. */
  readonly id: string
  readonly app_id: string
  readonly kind: ObservedKind
  /** What is the same in all of its occurrences, as a digest. */
  readonly fingerprint: string
  readonly type: string
  readonly title: string
  readonly culprit: string
  readonly count: number
  readonly first_seen: Instant
  readonly last_seen: Instant
  /** What brought it, and again when it comes back after it was resolved. */
  readonly deployment_id: string | null
  readonly edit_id: string | null
  /** The latest. */
  readonly sample: ProblemSample
  /** The network that reported it, numbered within the batch so that no address is stored. */
  readonly reporter: number
}

export interface ProblemRecord extends Omit<ToldProblem, 'reporter'> {
  readonly status: ProblemStatus
  /** When it was last resolved; it stays when it comes back. */
  readonly resolved_at: Instant | null
  /** When it last came back after that. */
  readonly reopened_at: Instant | null
}

/** Those seen last first; `after` is what `placeOfProblem` answers of the last one of the page before. */
export interface ProblemQuery extends PageQuery {
  readonly app_id: string
  readonly kind: ObservedKind | null
  readonly status: ProblemStatus | null
  /** Seen at this instant or later. */
  readonly since: Instant | null
  /** What its title or culprit holds, as it is written. */
  readonly text: string | null
}

/** What came of asking a published app for its page. */
export interface CheckRecord {
  readonly app_id: string
  readonly at: Instant
  readonly status: 'pass' | 'fail'
  /** Null where nothing was answered. */
  readonly latency_ms: Millis | null
  readonly message: string | null
}

/** What is due by now. */
export interface ProbesDue {
  readonly now: Instant
  /** No probe is put off beyond it: one that is was so by a clock that was ahead, and is due. */
  readonly furthest: Instant
}

/** When an app is to be asked next. */
export interface NextProbe {
  readonly app_id: string
  readonly at: Instant
}

export interface ObservationReads {
  /** @param most lines that a page looks at; default `MOST_LOOKED_AT` */
  lines(query: LineQuery, most?: number): Promise<Page<AccessLine>>
  /**
   * Lines in the order in which they were added. It reads `limit` lines of each kind at most, however many
   * there are of others.
   */
  tail(query: TailQuery): Promise<readonly PlacedLine[]>
  /** Of the requests since an instant, the last `most` at most, how many there were and how many failed. */
  rate(
    appId: string,
    kind: ObservedKind,
    since: Instant,
    most: number,
  ): Promise<{ readonly requests: number; readonly errors: number }>
  /** Counters of the days from `from` up to, and without, `before`. */
  usage(appId: string, from: string, before: string): Promise<readonly UsageRecord[]>
  problem(appId: string, id: string): Promise<ProblemRecord | undefined>
  problems(query: ProblemQuery): Promise<Page<ProblemRecord>>
  /** The latest checks, newest first. */
  checks(appId: string, limit: number): Promise<readonly CheckRecord[]>
  /** How many checks there were since an instant, and how many passed. */
  uptime(
    appId: string,
    since: Instant,
  ): Promise<{ readonly checks: number; readonly passed: number }>
  /**
   * Apps that `claimProbes` would put off, those that have waited longest first: of what is live each is
   * due from when it became so, and of what is not none.
   */
  dueProbes(due: ProbesDue, limit: number): Promise<readonly string[]>
}

/** Of an app that is not there nothing is kept, whatever is told of it. */
export interface ObservationWrites extends ObservationReads {
  /**
   * Notes that a source writes its batch of this number, in the unit that writes it. False when it was
   * written before: its numbers rise, and what is written twice counts twice.
   */
  beginBatch(source: string, number: number, now: Instant): Promise<boolean>
  /** Adds lines after those that are there; one whose id is known changes nothing. */
  addLines(lines: readonly AccessLine[]): Promise<void>
  /** @param asOf the latest instant of which anything is counted in the additions */
  addUsage(additions: readonly UsageAddition[], asOf: Instant): Promise<void>
  /**
   * Adds what was told to the problems that it is of: they count on, and one that was seen again after
   * it was resolved is open. Once the app has `MAX_PROBLEMS`, new ones take the places of the resolved ones
   * unseen for longest, and then of the open ones that occurred least, of these too those unseen for
   * longest; none that is told of gives its place. Of one app's new ones at most `MAX_NEW_PROBLEMS` are
   * taken, and of each reporter at most `MAX_NEW_OF_REPORTER`: first the first one of each reporter, by
   * their ids, then the second ones, and so on. The others are left out. No two of those told are one
   * problem.
   *
   * Answers how many were kept.
   */
  recordProblems(told: readonly ToldProblem[]): Promise<number>
  /** False, changing nothing, when it is not open. */
  resolveProblem(appId: string, id: string, now: Instant): Promise<boolean>
  addChecks(checks: readonly CheckRecord[]): Promise<void>
  /**
   * Puts off the next probe of each of these apps that is due, and answers which of them are served:
   * whoever is answered probes them. Of concurrent callers each is answered others.
   */
  claimProbes(next: readonly NextProbe[], due: ProbesDue): Promise<readonly string[]>
}

/** Problems that are kept of one app. */
export const MAX_PROBLEMS = 500

/** New ones that are taken of one app at a time: made up ones do not take the place of all others at once. */
export const MAX_NEW_PROBLEMS = 20

/** New ones of one app that one network may bring at a time, so that what it invents hides nobody's. */
export const MAX_NEW_OF_REPORTER = 5

/** Where a problem stands in a list. */
export function placeOfProblem({ last_seen, id }: Pick<ProblemRecord, 'last_seen' | 'id'>): string {
  return `${last_seen}_${id}`
}

/** What `placeOfProblem` answered; of what it never answers, a place behind all problems. */
export function readPlaceOfProblem(place: string): { readonly at: Instant; readonly id: string } {
  const [, at = '0', id = ''] = /^(\d{1,15})_(.*)$/.exec(place) ?? []
  return { at: Number(at), id }
}
