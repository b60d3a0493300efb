import { big, creator, flag, id, int, json, orNull, text } from '../../store/sql/columns.ts'
import { defineModel } from '../model/define.ts'
import { PROGRESS } from './jobs.ts'

export const EDIT_STATUSES = ['queued', 'running', 'completed', 'failed', 'canceled'] as const

/**
 * Whether the model may be shown passages of the app's knowledge files: `withheld` when the key that asked
 * lacks `files:read`.
 */
export const EDIT_KNOWLEDGE = ['allowed', 'withheld'] as const

/** Why an edit came to nothing, as its owner sees it. */
export interface EditFailure {
  readonly code: string
  /** Kind of the cause, such as `request` or `transient`: it says who can fix it. */
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

export const EDITS = defineModel(
  'edits',
  {
    /** Time-ordered. */
    id: id(),
    app_id: id(),
    account_id: id(),
    kind: text<'prompt' | 'structured'>(),
    /** Whether it makes the app: the app is ready or failed with it. */
    initial: flag(),
    status: text<(typeof EDIT_STATUSES)[number]>(),
    prompt: orNull(text()),
    /** Asked for, then the one that answered. */
    model: orNull(text()),
    /** Null for a structured edit, and for one that was made before this was recorded. */
    knowledge: orNull(text<(typeof EDIT_KNOWLEDGE)[number]>()),
    /** For the revision that it makes. */
    message: orNull(text()),
    /** The edit whose revision it takes back. */
    reverts: orNull(text()),
    /** What it applies to: given, or for a prompt the current one once it runs. */
    base_revision: orNull(int()),
    result_revision: orNull(int()),
    summary: orNull(text()),
    changed: json<readonly EditedFile[]>(),
    usage: orNull(json<EditUsage>()),
    error: orNull(json<EditFailure>()),
    created_by: creator(),
    created_at: big(),
    started_at: orNull(big()),
    finished_at: orNull(big()),
  },
  {},
  { shows: PROGRESS },
)
