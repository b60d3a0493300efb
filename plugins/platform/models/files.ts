import type { Field } from '../../store/sql/columns.ts'
import { big, creator, group, id, int, json, named, orNull, text } from '../../store/sql/columns.ts'
import { defineModel } from '../model/define.ts'
import { PROGRESS } from './jobs.ts'

export const FILE_STATUSES = ['queued', 'processing', 'processed', 'failed'] as const

/** Why a file cannot be searched, as its owner sees it. */
export interface FileFailure {
  readonly code: string
  readonly message: string
}

/** Of its job, while it has one. */
const ATTEMPTS: Field<number> = {
  columns: { attempts: int() },
  read: (row) => Number(row['job_attempts'] ?? row['attempts']),
  write: (attempts) => ({ attempts }),
}

/** A knowledge-base file. Its bytes lie where those of the app do, under their SHA-256. */
export const FILES = defineModel(
  'files',
  {
    /** Time-ordered. */
    id: id(),
    app_id: id(),
    account_id: id(),
    name: text(),
    /** What its first bytes say that it is; once processed, what it was found to be. */
    content_type: text(),
    /** In bytes. */
    size: big(),
    /** In hex. */
    sha256: id(),
    /** It can be searched when, and only when, this is `processed`. */
    status: text<(typeof FILE_STATUSES)[number]>(),
    /** Null until it is processed. */
    chunks: orNull(int()),
    /** Of the extracted text, in UTF-16 units; null until it is processed. */
    characters: orNull(big()),
    error: orNull(json<FileFailure>()),
    /** How often somebody began to process it, since it was last queued by a caller. */
    attempts: ATTEMPTS,
    created_by: creator(),
    created_at: big(),
    processed_at: orNull(big()),
  },
  {},
  { shows: PROGRESS },
)

const CHUNK = {
  ordinal: int(),
  text: text(),
  heading: orNull(text()),
  page: orNull(int()),
  start: named('starts_at', big()),
  end: named('ends_at', big()),
}

/** A passage of a file. */
export const FILE_CHUNK = group(CHUNK)

/** A passage, and where it was found. */
export const FOUND_CHUNK = group({ file_id: id(), name: text(), ...CHUNK })
