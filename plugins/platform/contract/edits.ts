import type { Creator } from '../../../lib/key/record.ts'
import type { Instant } from '../../../lib/time.ts'
import type { JobProgress, LeasedJob } from './jobs.ts'
import type { Page, SizedPageQuery } from '../../store/contract/page.ts'

export const EDIT_STATUSES = ['queued', 'running', 'completed', 'failed', 'canceled'] as const

export type EditStatus = (typeof EDIT_STATUSES)[number]
export type EditKind = 'prompt' | 'structured'

/**
 * Whether the model may be shown passages of the app's knowledge files: `withheld` when the key that asked
 * lacks `files:read`.
 */
export const EDIT_KNOWLEDGE = ['allowed', 'withheld'] as const

export type EditKnowledge = (typeof EDIT_KNOWLEDGE)[number]

/** Why an edit came to nothing, as its owner sees it. */
export interface EditFailure {
  readonly code: string
  /** Who can do something about it. */
  readonly class: string
  readonly message: string
  readonly retryable: boolean
}

export interface EditUsage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_tokens: number
  readonly estimated: boolean
}

export interface EditedFile {
  readonly path: string
  readonly change: 'added' | 'changed' | 'removed'
}

/** What an edit ended in; it never changes again. */
export interface EditEnd {
  readonly status: 'completed' | 'failed' | 'canceled'
  readonly finished_at: Instant
  readonly result_revision: number | null
  readonly summary: string | null
  readonly changed: readonly EditedFile[]
  readonly usage: EditUsage | null
  readonly error: EditFailure | null
}

export interface EditRecord extends JobProgress {
  /** Time-ordered. */
  readonly id: string
  readonly app_id: string
  readonly account_id: string
  readonly kind: EditKind
  /** Whether it makes the app: the app is ready or failed with it. */
  readonly initial: boolean
  readonly status: EditStatus
  readonly prompt: string | null
  /** Asked for, then the one that answered. */
  readonly model: string | null
  /** Null for a structured edit, and for one that was made before this was recorded. */
  readonly knowledge: EditKnowledge | null
  /** For the revision that it makes. */
  readonly message: string | null
  /** The edit whose revision it takes back. */
  readonly reverts: string | null
  /** What it applies to: given, or for a prompt the current one once it runs. */
  readonly base_revision: number | null
  readonly result_revision: number | null
  readonly summary: string | null
  readonly changed: readonly EditedFile[]
  readonly usage: EditUsage | null
  readonly error: EditFailure | null
  readonly created_by: Creator
  readonly created_at: Instant
  readonly started_at: Instant | null
  readonly finished_at: Instant | null
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
