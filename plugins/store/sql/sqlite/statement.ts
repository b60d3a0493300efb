import type sqlite3 from 'sqlite3'
import { kernelError } from '../../../../lib/errors.ts'
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
export function queryOn(connection: sqlite3.Database): Query {
  return <Row extends object>(sql: string, bind: readonly unknown[] = []) =>
    rowsOf<Row>((done) => connection.all<Row>(numbered(sql), bind, done))
}

/** @throws KeyhookError `unavailable` for those; rethrows any other error */
export function rowsOf<Row extends object>(
  run: (done: (error: Error | null, rows: Row[]) => void) => unknown,
): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    run((error, rows) => {
      if (error === null) resolve(rows)
      else reject(asReason(error))
    })
  })
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
