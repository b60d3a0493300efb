import { openDatabase } from '../../../sqlite/open.ts'
import type { Query } from '../client.ts'
import { queryOn } from './statement.ts'

/** A connection that can only read. */
export interface Reader {
  readonly query: Query
  close(): Promise<void>
}

/**
 * Opens an existing SQLite file read-only: it is neither created nor switched to WAL.
 *
 * @throws Error when there is no such file, or it cannot be opened
 */
export async function openReader(file: string): Promise<Reader> {
  const connection = await openDatabase(file, 'read')
  return { query: queryOn(connection), close: () => connection.close() }
}
