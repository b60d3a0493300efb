import sqlite3 from 'sqlite3'
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
  const connection = await new Promise<sqlite3.Database>((resolve, reject) => {
    const opened = new sqlite3.Database(file, sqlite3.OPEN_READONLY, (failed) => {
      if (failed === null) resolve(opened)
      else reject(failed)
    })
  })
  return {
    query: queryOn(connection),
    close: () =>
      new Promise((resolve, reject) => {
        connection.close((failed) => {
          if (failed === null) resolve()
          else reject(failed)
        })
      }),
  }
}
