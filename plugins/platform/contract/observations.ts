import type { Instant } from '../../../lib/time.ts'
import type { Page, PageQuery } from '../../store/contract/page.ts'
import type { ValueOf } from '../../store/sql/columns.ts'
import type { RecordOf } from '../model/define.ts'
import type {
  ACCESS_LINES,
  APP_CHECKS,
  APP_PROBES,
  APP_USAGE,
  ObservedKind,
  USAGE_ADDITION,
} from '../models/observations.ts'
import type { ErrorGroupReads, ErrorGroupWrites } from './error-groups.ts'

export { METERS, OBSERVED_KINDS } from '../models/observations.ts'
export type { ObservedKind } from '../models/observations.ts'

/** One request to an app. */
export type AccessLine = RecordOf<typeof ACCESS_LINES>

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
export type UsageAddition = ValueOf<typeof USAGE_ADDITION>

export type UsageRecord = RecordOf<typeof APP_USAGE>

export type Meter = UsageRecord['meter']

/** What came of asking a published app for its page. */
export type CheckRecord = RecordOf<typeof APP_CHECKS>

/** What is due by now. */
export interface ProbesDue {
  readonly now: Instant
  /** No probe is put off beyond it: one that is was so by a clock that was ahead, and is due. */
  readonly furthest: Instant
}

/** When an app is to be asked next. */
export type NextProbe = RecordOf<typeof APP_PROBES>

export interface ObservationReads extends ErrorGroupReads {
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
export interface ObservationWrites extends ObservationReads, ErrorGroupWrites {
  /**
   * Notes that a source writes its batch of this number, in the unit that writes it. False when it was
   * written before: its numbers rise, and what is written twice counts twice.
   */
  beginBatch(source: string, number: number, now: Instant): Promise<boolean>
  /** Adds lines after those that are there; one whose id is known changes nothing. */
  addLines(lines: readonly AccessLine[]): Promise<void>
  /** @param asOf the latest instant of which anything is counted in the additions */
  addUsage(additions: readonly UsageAddition[], asOf: Instant): Promise<void>
  addChecks(checks: readonly CheckRecord[]): Promise<void>
  /**
   * Puts off the next probe of each of these apps that is due, and answers which of them are served:
   * whoever is answered probes them. Of concurrent callers each is answered others.
   */
  claimProbes(next: readonly NextProbe[], due: ProbesDue): Promise<readonly string[]>
}
