import type { Instant } from '../../../lib/time.ts'
import type { Page, PageQuery } from '../../store/contract/page.ts'
import type { ValueOf } from '../../store/sql/columns.ts'
import type { RecordOf } from '../model/define.ts'
import { placeOf } from '../model/pages.ts'
import type { ERROR_GROUPS, TOLD_ERRORS } from '../models/error-groups.ts'
import type { ObservedKind } from '../models/observations.ts'

export { ERROR_GROUP_STATUSES } from '../models/error-groups.ts'

/** What is told of occurrences that are of one group. */
export type ToldErrors = ValueOf<typeof TOLD_ERRORS>

export type ErrorGroupRecord = RecordOf<typeof ERROR_GROUPS>

/** Those seen last first; `after` is what `placeOfErrorGroup` answers of the last one of the page before. */
export interface ErrorGroupQuery extends PageQuery {
  readonly app_id: string
  readonly kind: ObservedKind | null
  readonly status: ErrorGroupRecord['status'] | null
  /** Seen at this instant or later. */
  readonly since: Instant | null
  /** What its title or culprit holds, as it is written. */
  readonly text: string | null
}

export interface ErrorGroupReads {
  errorGroup(appId: string, id: string): Promise<ErrorGroupRecord | undefined>
  errorGroups(query: ErrorGroupQuery): Promise<Page<ErrorGroupRecord>>
}

export interface ErrorGroupWrites extends ErrorGroupReads {
  /**
   * Adds what was told to the error groups that it is of: they count on, and one that was seen again after
   * it was resolved is open. Once the app has `MAX_ERROR_GROUPS`, new ones take the places of the resolved ones
   * unseen for longest, and then of the open ones that occurred least, of these too those unseen for
   * longest; none that is told of gives its place. Of one app's new ones at most `MAX_NEW_ERROR_GROUPS` are
   * taken, and of each reporter at most `MAX_NEW_OF_REPORTER`: first the first one of each reporter, by
   * their ids, then the second ones, and so on. The others are left out. No two of those told are of
   * one group.
   *
   * Answers how many were kept.
   */
  recordErrors(told: readonly ToldErrors[]): Promise<number>
  /** False, changing nothing, when it is not open. */
  resolveErrorGroup(appId: string, id: string, now: Instant): Promise<boolean>
}

/** Error groups that are kept of one app. */
export const MAX_ERROR_GROUPS = 500

/** New ones that are taken of one app at a time: made up ones do not take the place of all others at once. */
export const MAX_NEW_ERROR_GROUPS = 20

/** New ones of one app that one network may bring at a time, so that what it invents hides nobody's. */
export const MAX_NEW_OF_REPORTER = 5

/** Where a group stands in a list. */
export const placeOfErrorGroup = ({
  last_seen,
  id,
}: Pick<ErrorGroupRecord, 'last_seen' | 'id'>): string => placeOf(last_seen, id)
