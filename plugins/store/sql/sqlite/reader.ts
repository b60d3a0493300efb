import sqlite3 from 'sqlite3'
import type { Query } from '../client.ts'
import { closeDatabase, openDatabase } from './connection.ts'
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
  const connection = await openDatabase(file, sqlite3.OPEN_READONLY)
  return { query: queryOn(connection), close: () => closeDatabase(connection) }
}
