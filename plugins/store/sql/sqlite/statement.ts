import { kernelError } from '../../../../lib/errors.ts'
import type { SqliteConnection } from '../../../sqlite/open.ts'
import type { Query } from '../client.ts'

/** Errors that are not caused by the statement: waiting or freeing space helps. */
const MACHINE_FAULTS: readonly string[] = [
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_BUSY',
  'SQLITE_NOMEM',
  'SQLITE_CANTOPEN',
  'SQLITE_READONLY',
]

/** Runs statements on a connection, prepared each time. */
export function queryOn(connection: SqliteConnection): Query {
  return <Row extends object>(sql: string, bind: readonly unknown[] = []) =>
    reasoned(connection.all<Row>(numbered(sql), bind))
}

/** A connection of the package sqlite3, as its other users have it. */
export interface CallbackConnection {
  all<Row>(
    sql: string,
    bind: readonly unknown[],
    done: (error: Error | null, rows: Row[]) => void,
  ): unknown
}

/** As `queryOn`. */
export function queryOnCallbacks(connection: CallbackConnection): Query {
  return <Row extends object>(sql: string, bind: readonly unknown[] = []) =>
    reasoned(
      new Promise<Row[]>((resolve, reject) => {
        connection.all<Row>(numbered(sql), bind, (error, rows) => {
          if (error === null) resolve(rows)
          else reject(error)
        })
      }),
    )
}

/** @throws KeyhookError `unavailable` for those; rethrows any other error */
export async function reasoned<T>(running: Promise<T>): Promise<T> {
  try {
    return await running
  } catch (cause) {
    throw asReason(cause as Error)
  }
}

/** Converts $2 to ?2: SQLite treats $2 as a name, numbered by its first occurrence. */
export function numbered(sql: string): string {
  return sql.replace(/\$(\d+)/g, '?$1')
}

function asReason(cause: Error): Error {
  const text = cause.message
  return MACHINE_FAULTS.some((code) => text.includes(code))
    ? kernelError('unavailable', { cause, internal: text })
    : cause
}
