/**
 * What is used of a driver of SQLite. Its calls are run in their order, in another thread; errors have SQLite's
 * names as the package sqlite3 gives them: `SQLITE_BUSY: database is locked`.
 *
 * @module
 */

export type Row = object

/** `create` creates a file that is missing; the others refuse it. */
export type Mode = 'read' | 'write' | 'create'

/** A driver of SQLite. */
export interface SqliteDriver {
  readonly name: 'sqlite3' | 'node:sqlite'
  open(file: string, mode: Mode): Promise<SqliteConnection>
}

export interface SqliteConnection {
  /** Runs the first statement of a text. Its values are bound by position. */
  all<T extends Row>(sql: string, bind?: readonly unknown[]): Promise<T[]>
  /** Runs every statement of a text. */
  exec(sql: string): Promise<void>
  prepare(sql: string): Promise<SqliteStatement>
  /**
   * SQLite's online backup into a new file.
   *
   * @param pages pages copied between two reports
   * @param progress from 0 to 1
   */
  copyTo(file: string, pages: number, progress: (share: number) => void): Promise<void>
  /** Every prepared statement must be finalized before. */
  close(): Promise<void>
}

export interface SqliteStatement {
  all<T extends Row>(bind: readonly unknown[]): Promise<T[]>
  finalize(): Promise<void>
}
