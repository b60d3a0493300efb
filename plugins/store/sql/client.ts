/** Runs one statement; values are bound by position ($1, $2, …) and never become SQL text. */
export type Query = <Row extends object = Record<string, unknown>>(
  sql: string,
  bind?: readonly unknown[],
) => Promise<Row[]>

/** What the SQL store stands on: the same few calls over SQLite and PostgreSQL. */
export interface SqlClient {
  readonly dialect: Dialect
  /** Reads what is committed. */
  readonly read: Query
  /**
   * One transaction: all of it or nothing. Concurrent calls never see each other's middle.
   *
   * @param committed runs right after the commit, before anything else writes
   */
  transaction<T>(work: (query: Query) => Promise<T>, committed?: () => void): Promise<T>
  /**
   * Single statements, each its own commit, in one turn of the writer: nothing else writes between
   * the start of `work` and its end.
   */
  exclusive<T>(work: (statement: Query) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Where the two databases differ; statements are written once with these pieces. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres'
  /** Column type of raw bytes. */
  readonly bytes: string
  /** Column type of identifiers, compared bytewise. */
  readonly id: string
  /** A position that only grows. */
  readonly serial: string
  /** Storage clause for tables that are their primary key. */
  readonly clustered: string
  /** A condition: `column` is among the JSON array bound at `parameter`. */
  among(column: string, parameter: string): string
}

export const SQLITE: Dialect = {
  name: 'sqlite',
  bytes: 'BLOB',
  id: 'TEXT',
  serial: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  clustered: 'WITHOUT ROWID',
  among: (column, parameter) => `${column} IN (SELECT value FROM json_each(${parameter}))`,
}
