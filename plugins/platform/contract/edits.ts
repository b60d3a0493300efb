import type { Creator } from '../../../lib/key/record.ts'
import type { Instant } from '../../../lib/time.ts'
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

/** How far an edit is; `stage` null while it waits and once it ended. */
export interface EditPlace {
  readonly stage: string | null
  readonly done: number
  readonly total: number | null
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

export interface EditRecord extends EditPlace {
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
  /** It fails when it is not done by then. */
  readonly deadline_at: Instant | null
  /** Set while it runs: whoever carries it out stops, and ends it as canceled. */
  readonly cancel_at: Instant | null
  /** How often somebody began to carry it out. */
  readonly attempts: number
}

export interface EditListQuery extends SizedPageQuery {
  readonly app_id: string
  readonly status: EditStatus | null
  readonly kind: EditKind | null
  readonly initial: boolean | null
}

/** One line of what an edit did. */
export interface EditLine {
  /** 1, 2, … within the edit, without a gap. */
  readonly number: number
  readonly at: Instant
  readonly stage: string | null
  readonly message: string
}

export interface EditReads {
  get(appId: string, id: string): Promise<EditRecord | undefined>
  /** @param most edits that a page looks at; default `MOST_LOOKED_AT` */
  list(query: EditListQuery, most?: number): Promise<Page<EditRecord>>
  /** Those of the app that are queued or running, the oldest first. */
  waiting(appId: string): Promise<readonly EditRecord[]>
  /** Its lines after a number, in their order. */
  lines(id: string, after: number, limit: number): Promise<readonly EditLine[]>
  /** Whether `claim` would find anything. */
  isClaimable(now: Instant): Promise<boolean>
}

export interface EditClaim {
  /** Unique to this one deed. */
  readonly claim: string
  readonly now: Instant
  readonly lease_until: Instant
  /** When the edit is to have ended, where this is the first time that it is begun. */
  readonly deadline_at: Instant
}

export interface EditWrites extends EditReads {
  insert(edit: EditRecord): Promise<void>
  /**
   * Begins the edit that has waited longest, of accounts with the fewest running: of apps without a running
   * one the oldest that is queued, or one whose lease has ended. Of concurrent callers each gets another; no app ever has two running.
   * Its place is cleared, its attempts count one more.
   */
  claim(asked: EditClaim): Promise<EditRecord | undefined>
  /**
   * Notes that it is alive, and how far. `lost`, changing nothing, when it is not this claim's any more;
   * `cancel` when it was asked to stop.
   */
  beat(
    id: string,
    claim: string,
    beat: { readonly lease_until: Instant } & EditPlace,
  ): Promise<'held' | 'cancel' | 'lost'>
  /**
   * Gives a claimed edit back unfinished: it may be claimed at once, and this attempt counts for none. False,
   * changing nothing, when it is not this claim's any more.
   */
  release(id: string, claim: string, now: Instant): Promise<boolean>
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
  /** Ends a claimed edit. False, changing nothing, when it is not this claim's any more. */
  finish(id: string, claim: string, end: EditEnd): Promise<boolean>
  /** Ends a queued one. False, changing nothing, when it is not queued any more. */
  drop(id: string, end: EditEnd): Promise<boolean>
  /** Asks a running one to stop. False when it is not running; asked again, true. */
  cancel(id: string, now: Instant): Promise<boolean>
  /** Adds lines after its last. */
  log(
    id: string,
    lines: readonly {
      readonly at: Instant
      readonly stage: string | null
      readonly message: string
    }[],
  ): Promise<void>
}
