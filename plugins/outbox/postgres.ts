import { SECOND } from '../../lib/time.ts'
import type { OutboxLimits, OutboxRow, OutboxSource, RowOutcome } from './contract.ts'
import { DEFAULT_LIMITS, MAX_TEXT, OUTBOX_VERSION, fitting, sortOutcomes } from './contract.ts'
import {
  COUNT_ROWS,
  LOOK_AT_TABLE,
  OUTBOX_TABLE,
  noTable,
  toCounts,
  toRow,
} from './contract/table.ts'

type Row = Readonly<Record<string, string | null>>
type Query = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>

const CONNECT_WAIT = 5 * SECOND
/** Maximum wait for a response: a connection that was cut silently gives none. */
const ANSWER_WAIT = 15 * SECOND
/** Maximum time that a process suspended inside a transaction keeps the others from taking rows. */
const STALLED = 30 * SECOND

/**
 * SQL of the key of the advisory lock that the process taking rows holds. Such keys belong to the whole
 * database, which other programs lock in too: it is a hash of this table's own schema and name.
 */
const TAKING = `(SELECT hashtextextended('outbox ' || relnamespace::regnamespace::text || '.' || relname, 0)
  FROM pg_class WHERE oid = '${OUTBOX_TABLE}'::regclass)`

/**
 * Opens the outbox of a PostgreSQL database over one connection. Any number of processes may open it: one at a
 * time takes rows, since two would publish events of one account out of order.
 *
 * @throws Error when it cannot be connected to, or its table cannot be used
 */
export async function openPostgresOutbox(
  url: string,
  given: Partial<OutboxLimits> = {},
): Promise<OutboxSource> {
  const limits = { ...DEFAULT_LIMITS, ...given }
  const { default: pg } = await import('pg')
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_WAIT,
    query_timeout: ANSWER_WAIT,
    keepAlive: true,
    // Parsers that the embedder set for all clients of the process have no effect here.
    types: { getTypeParser: () => String },
  })
  let broken: Error | undefined
  let isNotified = false
  let notify: (() => void) | undefined
  const fail = (cause?: Error): void => {
    broken ??= cause ?? new Error('the connection to the outbox has ended')
    notify?.()
  }
  client.on('error', fail)
  client.on('end', fail)
  client.on('notification', () => {
    isNotified = true
    notify?.()
  })
  const query: Query = async (text, values = []) => {
    const { rows } = await client.query<Record<string, string | null>>(text, [...values])
    return rows
  }
  const close = (): Promise<void> => client.end().catch(() => undefined)
  try {
    await client.connect()
    await requireTable(query)
    await query(`LISTEN ${OUTBOX_TABLE}`)
  } catch (cause) {
    await close()
    throw cause
  }

  return {
    async take(publish, except) {
      isNotified = false
      await query('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE')
      try {
        await query(`SET LOCAL idle_in_transaction_session_timeout = ${STALLED}`)
        const rows = (await isAlone(query)) ? await lockRows(query, limits, except) : []
        if (rows.length > 0) await record(query, rows, await publish(rows))
        await query('COMMIT')
        return rows.length
      } catch (cause) {
        await query('ROLLBACK').catch(fail)
        throw cause
      }
    },
    async available(signal) {
      if (broken === undefined && !isNotified) {
        await new Promise<void>((resolve) => {
          const end = (): void => {
            clearTimeout(timer)
            signal.removeEventListener('abort', end)
            resolve()
          }
          const timer = setTimeout(end, limits.poll)
          signal.addEventListener('abort', end)
          notify = end
          if (signal.aborted) end()
        })
        notify = undefined
      }
      if (broken !== undefined) throw broken
    },
    async count() {
      const [row] = await query(COUNT_ROWS)
      return toCounts(row)
    },
    close,
  }
}

/** @throws Error that names what is missing */
async function requireTable(query: Query): Promise<void> {
  const [found] = await query(
    `SELECT to_regclass('${OUTBOX_TABLE}') IS NOT NULL AS found, current_user AS role`,
  )
  if (found?.['found'] !== 't') throw noTable()
  const [row] = await query(
    `SELECT string_agg(privilege, ', ') AS missing FROM unnest(ARRAY['SELECT', 'UPDATE', 'DELETE']) privilege
     WHERE NOT has_table_privilege('${OUTBOX_TABLE}', privilege)`,
  )
  const missing = row?.['missing'] ?? null
  if (missing !== null) {
    throw new Error(
      `the role ${found['role']} may not ${missing} rows of ${OUTBOX_TABLE}: GRANT it to the role`,
    )
  }
  await query(LOOK_AT_TABLE)
}

/** Whether no other process takes rows. A statement of its own: the rows are read after the other's commit. */
async function isAlone(query: Query): Promise<boolean> {
  const [row] = await query(`SELECT pg_try_advisory_xact_lock(${TAKING}) AS alone`)
  return row?.['alone'] === 't'
}

/** Sizes first, so that no more is read than fits. A row that somebody else has locked is left out, not waited for. */
async function lockRows(
  query: Query,
  limits: OutboxLimits,
  except: readonly string[],
): Promise<readonly OutboxRow[]> {
  const sizes = await query(
    `SELECT position, octet_length(data) AS bytes FROM ${OUTBOX_TABLE}
     WHERE refused_at IS NULL AND version = ${OUTBOX_VERSION} AND account_id <> ALL ($2::text[])
     ORDER BY position LIMIT $1 FOR UPDATE SKIP LOCKED`,
    [limits.rows, except],
  )
  const taken = fitting(
    sizes.map(({ position, bytes }) => ({ position, bytes: Number(bytes) })),
    limits,
  )
  if (taken.length === 0) return []
  const rows = await query(
    `SELECT position, left(COALESCE(id, row_id), ${MAX_TEXT}) AS id,
       left(account_id, ${MAX_TEXT}) AS account_id, left(app_id, ${MAX_TEXT}) AS app_id,
       left(type, ${MAX_TEXT}) AS type, octet_length(data) AS bytes,
       CASE WHEN octet_length(data) <= $2 THEN data END AS data
     FROM ${OUTBOX_TABLE} WHERE position = ANY ($1::bigint[]) ORDER BY position`,
    [taken.map(({ position }) => position), limits.rowBytes],
  )
  return rows.map(toRow)
}

async function record(
  query: Query,
  rows: readonly OutboxRow[],
  outcomes: readonly RowOutcome[],
): Promise<void> {
  const { published, refused } = sortOutcomes(rows, outcomes)
  if (published.length > 0) {
    await query(`DELETE FROM ${OUTBOX_TABLE} WHERE position = ANY ($1::bigint[])`, [
      published.map(({ position }) => position),
    ])
  }
  if (refused.length > 0) {
    await query(
      `UPDATE ${OUTBOX_TABLE} SET refused_at = now(), refused_code = r.code, refused_reason = r.reason
       FROM unnest($1::bigint[], $2::text[], $3::text[]) AS r (at, code, reason) WHERE position = r.at`,
      [
        refused.map(({ position }) => position),
        refused.map(({ code }) => code),
        refused.map(({ reason }) => reason),
      ],
    )
  }
}
