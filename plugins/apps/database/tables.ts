/** Bytes per chunk; the last may be smaller. */
export const CHUNK: number = 256 * 1024

/** Runs one statement; values are bound by position ($1, $2, …). */
export type Query = <Row extends object = Record<string, unknown>>(
  sql: string,
  bind?: readonly unknown[],
) => Promise<Row[]>

/** The part of the SQL store's client that is used. */
export interface BytesDatabase {
  readonly dialect: {
    readonly name: 'sqlite' | 'postgres'
    /** A condition: `column` is among the JSON array bound at `parameter`. */
    among(column: string, parameter: string): string
    /** Ends a SELECT whose rows are about to change: locked rows are skipped. */
    readonly skipLocked: string
  }
  readonly read: Query
  /** Single statements, each its own commit. */
  exclusive<T>(purpose: 'purge', work: (statement: Query) => Promise<T>): Promise<T>
}

/** The tables, created by the store's migrations, and how to query them. */
export interface BytesTables {
  readonly bytes: string
  readonly chunks: string
  readonly read: Query
  /** One statement, committed when it resolves. */
  readonly write: Query
  /** Whether one statement may insert into both. */
  readonly insertsIntoBoth: boolean
  among(column: string, parameter: string): string
  readonly skipLocked: string
}

/** @throws TypeError for a prefix that is not [a-z][a-z0-9_]{0,20} or empty */
export function tablesOf(database: BytesDatabase, prefix: string): BytesTables {
  if (!/^([a-z][a-z0-9_]{0,20})?$/.test(prefix)) {
    throw new TypeError('a table prefix is lower case letters, digits and _')
  }
  return {
    bytes: `${prefix}app_bytes`,
    chunks: `${prefix}app_chunks`,
    read: database.read,
    write: (sql, bind) => database.exclusive('purge', (statement) => statement(sql, bind)),
    insertsIntoBoth: database.dialect.name === 'postgres',
    among: (column, parameter) => database.dialect.among(column, parameter),
    skipLocked: database.dialect.skipLocked,
  }
}
