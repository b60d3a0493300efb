import type { FileChunk, FileFailure, FileRecord, FoundChunk } from '../contract/files.ts'
import type { Row } from '../../store/sql/rows.ts'
import { integer, integerOrNull, jsonOrNull, textOrNull, toCreator } from '../../store/sql/rows.ts'

/** What a record of a file says, by column. */
export const COLUMNS = [
  'id',
  'app_id',
  'account_id',
  'name',
  'content_type',
  'size',
  'sha256',
  'status',
  'chunks',
  'characters',
  'error',
  'attempts',
  'created_by_type',
  'created_by_id',
  'created_at',
  'processed_at',
] as const

export function toValues(file: FileRecord): Readonly<Record<(typeof COLUMNS)[number], unknown>> {
  return {
    ...file,
    error: file.error && JSON.stringify(file.error),
    created_by_type: file.created_by.type,
    created_by_id: file.created_by.id,
  }
}

export function toFile(row: Row): FileRecord {
  return {
    id: String(row['id']),
    app_id: String(row['app_id']),
    account_id: String(row['account_id']),
    name: String(row['name']),
    content_type: String(row['content_type']),
    size: integer(row['size']),
    sha256: String(row['sha256']),
    status: row['status'] as FileRecord['status'],
    stage: textOrNull(row['stage']),
    done: integer(row['done'] ?? 0),
    total: integerOrNull(row['total']),
    chunks: integerOrNull(row['chunks']),
    characters: integerOrNull(row['characters']),
    error: jsonOrNull<FileFailure>(row['error']),
    attempts: integer(row['job_attempts'] ?? row['attempts']),
    created_by: toCreator(row),
    created_at: integer(row['created_at']),
    processed_at: integerOrNull(row['processed_at']),
  }
}

export function toFound(row: Row): FoundChunk {
  return {
    file_id: String(row['file_id']),
    name: String(row['name']),
    ...toChunk(row),
    score: Number(row['score']),
  }
}

export function toChunk(row: Row): FileChunk {
  return {
    ordinal: integer(row['ordinal']),
    text: String(row['text']),
    heading: textOrNull(row['heading']),
    page: integerOrNull(row['page']),
    start: integer(row['starts_at']),
    end: integer(row['ends_at']),
  }
}
