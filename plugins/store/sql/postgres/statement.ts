import { kernelError } from '../../../../lib/errors.ts'
import type { Millis } from '../../../../lib/time.ts'
import { SECOND } from '../../../../lib/time.ts'
import type { Query } from '../client.ts'
import type { Row } from '../rows.ts'
import type { PgAnswer, PgClient, PgStatement } from './source.ts'

/** How long a statement waits for a row that an embedder's transaction holds. */
export const LOCK_WAIT: Millis = 5 * SECOND

/**
 * How long an answer is waited for: a connection that was cut in silence gives none, and whoever comes
 * next would wait behind it. Longer than a lock is waited for.
 */
const ANSWER_WAIT: Millis = LOCK_WAIT + 3 * SECOND

const BYTEA = 17

/** Only bytes are read as such: parsers that an embedder set for its own rows change nothing here. */
const TYPES: NonNullable<PgStatement['types']> = {
  getTypeParser: (type) => (type === BYTEA ? readBytes : String),
}

function readBytes(text: string): Uint8Array {
  if (!text.startsWith('\\x')) throw new TypeError('bytea_output must be hex')
  return Buffer.from(text.slice(2), 'hex')
}

/**
 * Classes of SQLSTATE, or codes, that say nothing about the statement: a lost connection, a deadlock or
 * a conflict with another transaction, a lack of resources, an operator's or a disk's doing, a lock not
 * given in time, and a server that became a standby.
 */
const MACHINE_FAULTS = /^(08|40|53|57|58|55P03|25006)/

/** @throws KeyhookError `unavailable` for a fault of the machine; any other passes through */
export async function ask(client: PgClient, statement: PgStatement): Promise<PgAnswer> {
  const [answer] = await answersOf(client, statement)
  return answer ?? NOTHING
}

/** Several statements without values in one trip; answers the rows of each. */
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

/** @param maxWait how long locks may be waited for, and work may take, beyond what is usual */
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

/** The SQLSTATE of a server's answer; what the system says of a socket, such as EPIPE, is none. */
export function codeOf(cause: unknown): string | undefined {
  const code: unknown = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined
}
