import { toHex, utf8 } from '../../../lib/internal/bytes.ts'
import type { Query } from '../../store/sql/client.ts'
import type { Row } from '../../store/sql/rows.ts'
import type { FileSearch, NewChunk } from '../contract/files.ts'
import type { PlatformTables } from './tables.ts'

/** Which chunks of files hold which words. */
export interface Passages {
  /** Columns of the chunks' table that only their words need. */
  readonly columns: string
  /** The statements that make the index; with a chunk its words are gone. */
  index(t: PlatformTables): readonly string[]
  insert(query: Query, t: PlatformTables, file: FileRow, chunks: readonly NewChunk[]): Promise<void>
  /** Chunks of processed files that hold any of the words, with `file_id`, `name` and `score`. */
  find(
    query: Query,
    t: PlatformTables,
    search: Omit<FileSearch, 'query'> & { readonly words: readonly string[] },
  ): Promise<readonly Row[]>
}

/** Whose chunks are kept. */
export interface FileRow {
  readonly id: string
  readonly app_id: string
}

/** An app's id as one word of ASCII, unlike that of any other app. */
export function printAppTerm(appId: string): string {
  return `app${toHex(utf8(appId))}`
}
