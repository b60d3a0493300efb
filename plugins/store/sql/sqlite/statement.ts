import type sqlite3 from 'sqlite3'
import { kernelError } from '../../../../lib/errors.ts'
import type { Query } from '../client.ts'

/** Faults of the machine, not of a statement: waiting or freeing space helps. */
const MACHINE_FAULTS: readonly string[] = [
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_BUSY',
  'SQLITE_NOMEM',
  'SQLITE_CANTOPEN',
  'SQLITE_READONLY',
]

/** Statements on a connection, prepared each time. */
export function queryOn(connection: sqlite3.Database): Query {
  return <Row extends object>(sql: string, bind: readonly unknown[] = []) =>
    rowsOf<Row>((done) => connection.all<Row>(numbered(sql), bind, done))
}

/** @throws KeyhookError `unavailable` for a fault of the machine; any other passes through */
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

/** To SQLite $2 is a name, numbered by where it first stands; ?2 is the second value. */
export function numbered(sql: string): string {
  return sql.replace(/\$(\d+)/g, '?$1')
}

export function asReason(cause: Error): Error {
  const text = cause.message
  return MACHINE_FAULTS.some((code) => text.includes(code))
    ? kernelError('unavailable', { cause, internal: text })
    : cause
}
