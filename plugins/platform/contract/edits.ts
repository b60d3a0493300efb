import type { Instant } from '../../../lib/time.ts'
import type { RecordOf } from '../model/define.ts'
import type { EDITS } from '../models/edits.ts'
import type { LeasedJob } from './jobs.ts'
import type { Page, SizedPageQuery } from '../../store/contract/page.ts'

export { EDIT_KNOWLEDGE, EDIT_STATUSES } from '../models/edits.ts'
export type { EditFailure, EditedFile } from '../models/edits.ts'

export type EditRecord = RecordOf<typeof EDITS>

export type EditStatus = EditRecord['status']
export type EditKind = EditRecord['kind']
export type EditKnowledge = NonNullable<EditRecord['knowledge']>

/** What an edit ended in; it never changes again. */
export interface EditEnd extends Pick<
  EditRecord,
  'result_revision' | 'summary' | 'changed' | 'usage' | 'error'
> {
  readonly status: 'completed' | 'failed' | 'canceled'
  readonly finished_at: Instant
}

export interface EditListQuery extends SizedPageQuery {
  readonly app_id: string
  readonly status: EditStatus | null
  readonly kind: EditKind | null
  readonly initial: boolean | null
}

export interface EditReads {
  get(appId: string, id: string): Promise<EditRecord | undefined>
  /** @param most edits that a page looks at; default `MOST_LOOKED_AT` */
  list(query: EditListQuery, most?: number): Promise<Page<EditRecord>>
  /** Those of the app that are queued or running, the oldest first. */
  waiting(appId: string): Promise<readonly EditRecord[]>
}

export interface EditWrites extends EditReads {
  /** Adds an edit; one that is queued has a job from then on, in the queue of its app. */
  insert(edit: EditRecord): Promise<void>
  /** Notes that the edit of a job runs from now on. Undefined when there is no such edit. */
  begin(job: LeasedJob, now: Instant): Promise<EditRecord | undefined>
  /**
   * Notes what a claimed edit applies to, which model answers, and that knowledge is withheld. False when the
   * claim is lost.
   */
  found(
    id: string,
    claim: string,
    what: {
      readonly base_revision?: number
      readonly model?: string
      readonly knowledge?: EditKnowledge
    },
  ): Promise<boolean>
  /** Ends a claimed edit and its job. False, changing nothing, when it is not this claim's any more. */
  finish(id: string, claim: string, end: EditEnd): Promise<boolean>
  /** Ends a queued one and its job. False, changing nothing, when it is not queued any more. */
  drop(id: string, end: EditEnd): Promise<boolean>
}
