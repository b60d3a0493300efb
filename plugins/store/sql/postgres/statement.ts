import type { Query } from '../client.ts'
import type { Row } from '../rows.ts'
import { kernelError } from '../../../../lib/errors.ts'
import type { Millis } from '../../../../lib/time.ts'
import { SECOND } from '../../../../lib/time.ts'
import type { PgAnswer, PgClient, PgStatement } from './source.ts'

/** Maximum wait for a row that a transaction of the embedder has locked. */
export const LOCK_WAIT: Millis = 5 * SECOND

/**
 * Maximum wait for a response: a connection that was cut silently gives none, and blocks the next caller.
 * Longer than the wait for a lock.
 */
const ANSWER_WAIT: Millis = LOCK_WAIT + 3 * SECOND

const BYTEA = 17

/** Parses only bytes. Type parsers that an embedder set have no effect here. */
const TYPES: NonNullable<PgStatement['types']> = {
  getTypeParser: (type) => (type === BYTEA ? readBytes : String),
}

function readBytes(text: string): Uint8Array {
  if (!text.startsWith('\\x')) throw new TypeError('bytea_output must be hex')
  return Buffer.from(text.slice(2), 'hex')
}

/**
 * SQLSTATE classes and codes that are not caused by the statement: a lost connection, a deadlock or a
 * conflict with another transaction, insufficient resources, operator intervention, an I/O error, a lock
 * timeout, and a server that became a standby.
 */
const MACHINE_FAULTS = /^(08|40|53|57|58|55P03|25006)/

/** @throws KeyhookError `unavailable` for those; rethrows any other error */
export async function ask(client: PgClient, statement: PgStatement): Promise<PgAnswer> {
  const [answer] = await answersOf(client, statement)
  return answer ?? NOTHING
}

/** Runs several statements without values in one round trip; returns the rows of each. */
export async function askAll(client: PgClient, text: string): Promise<readonly Row[][]> {
  const answers = await answersOf(client, { text })
  return answers.map(({ rows }) => rows as Row[])
}

const NOTHING: PgAnswer = { command: '', rows: [] }

async function answersOf(client: PgClient, statement: PgStatement): Promise<readonly PgAnswer[]> {
  try {
    return [await client.query({ query_timeout: ANSWER_WAIT, ...statement, types: TYPES })].flat()
  } catch (cause) {
    throw asReason(cause)
  }
}

/** @param maxWait additional time for locks and for the response */
export function queryOn(client: PgClient, maxWait: Millis = 0): Query {
  return async <Row extends object>(text: string, bind: readonly unknown[] = []) => {
    const query_timeout = ANSWER_WAIT + maxWait
    const { rows } = await ask(client, { text, values: [...bind], query_timeout })
    return rows as Row[]
  }
}

export function asReason(cause: unknown): unknown {
  const code = codeOf(cause)
  // An error without SQLSTATE does not come from the server: the connection failed.
  return code === undefined || MACHINE_FAULTS.test(code)
    ? kernelError('unavailable', { cause, internal: String(cause) })
    : cause
}

/** The SQLSTATE of an error of the server; undefined for a system error, such as EPIPE. */
export function codeOf(cause: unknown): string | undefined {
  const code: unknown = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined
}

const UNIQUE_VIOLATION = '23505'

/** Runs a statement after a savepoint, so that a conflict undoes only this statement. */
export async function onConflict(
  query: Query,
  sql: string,
  bind: readonly unknown[],
): Promise<readonly Row[]> {
  await query('SAVEPOINT attempt')
  try {
    const rows = await query(sql, bind)
    await query('RELEASE SAVEPOINT attempt')
    return rows
  } catch (cause) {
    if (codeOf(cause) !== UNIQUE_VIOLATION) throw cause
    await query('ROLLBACK TO SAVEPOINT attempt')
    return []
  }
}
