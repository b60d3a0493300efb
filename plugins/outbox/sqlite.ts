import { setTimeout as delay } from 'node:timers/promises'
import sqlite3 from 'sqlite3'
import { SECOND } from '../../lib/time.ts'
import type { OutboxLimits, OutboxRow, OutboxSource, RowOutcome } from './contract.ts'
import { DEFAULT_LIMITS, MAX_TEXT, OUTBOX_VERSION, fitting, sortOutcomes } from './contract.ts'
import { identityOf } from './contract/file-identity.ts'
import {
  COUNT_ROWS,
  LOOK_AT_TABLE,
  OUTBOX_TABLE,
  noTable,
  toCounts,
  toRow,
} from './contract/table.ts'

type Row = Readonly<Record<string, unknown>>
type Query = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>

const POLL = SECOND / 4
/** Interval of looking for rows although the file seems unchanged, and for a file that replaced it. */
const LOOK_EVERY = 5 * SECOND
/** Maximum wait for a transaction of the backend. */
const BUSY_WAIT = 5 * SECOND

/**
 * Opens the outbox of a backend's SQLite file. Its journal mode stays as it is. The file is locked only to
 * record outcomes, not while rows are published, so that the backend never waits for long.
 *
 * @throws Error when there is no such file, or its table cannot be used
 */
export async function openSqliteOutbox(
  file: string,
  given: Partial<OutboxLimits> = {},
): Promise<OutboxSource> {
  const limits = { ...DEFAULT_LIMITS, poll: POLL, ...given }
  const connection = await open(file)
  const query: Query = (text, values = []) =>
    new Promise((resolve, reject) => {
      connection.all<Row>(text, values, (failed, rows) => {
        if (failed === null) resolve(rows)
        else reject(failed)
      })
    })
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      connection.close(() => {
        resolve()
      })
    })
  let identity: string
  /** State of the file at the last `take`. */
  let seen = ''
  /** Whether the last `take` left out accounts: their rows become due without a change of the file. */
  let isHolding = false
  try {
    await query(`PRAGMA busy_timeout = ${BUSY_WAIT}`)
    identity = await identityOf(file)
    await requireTable(query)
  } catch (cause) {
    await close()
    throw cause
  }

  /** Changes with every commit of another connection. */
  async function versionOf(): Promise<string> {
    const [row] = await query('PRAGMA data_version')
    return String(row?.['data_version'])
  }

  return {
    async take(publish, except) {
      seen = await versionOf()
      isHolding = except.length > 0
      const rows = await readRows(query, limits, except)
      if (rows.length > 0) await record(query, rows, await publish(rows))
      return rows.length
    },
    async available(signal) {
      for (let waited = 0; waited < LOOK_EVERY && !signal.aborted; waited += limits.poll) {
        await delay(limits.poll, undefined, { signal }).catch(() => undefined)
        if (signal.aborted || (await versionOf()) !== seen) return
        if (isHolding) break
      }
      // A restored backup is another file: this connection would read the old one forever.
      if ((await identityOf(file)) !== identity) throw new Error(`${file} was replaced`)
    },
    async count() {
      const [row] = await query(COUNT_ROWS)
      return toCounts(row)
    },
    close,
  }
}

function open(file: string): Promise<sqlite3.Database> {
  return new Promise((resolve, reject) => {
    const opened = new sqlite3.Database(file, sqlite3.OPEN_READWRITE, (failed) => {
      if (failed === null) resolve(opened)
      else reject(new Error(`${file} cannot be opened: ${failed.message}`, { cause: failed }))
    })
  })
}

/** @throws Error that names what is missing */
async function requireTable(query: Query): Promise<void> {
  const [found] = await query(`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?`, [
    OUTBOX_TABLE,
  ])
  if (found === undefined) throw noTable()
  await query(LOOK_AT_TABLE)
}

/** Sizes first, so that no more is read than fits. */
async function readRows(
  query: Query,
  limits: OutboxLimits,
  except: readonly string[],
): Promise<readonly OutboxRow[]> {
  const sizes = await query(
    `SELECT position, octet_length(data) AS bytes FROM ${OUTBOX_TABLE}
     WHERE refused_at IS NULL AND version = ${OUTBOX_VERSION}
       AND CAST(account_id AS TEXT) NOT IN (SELECT value FROM json_each(?))
     ORDER BY position LIMIT ?`,
    [JSON.stringify(except), limits.rows],
  )
  const taken = fitting(
    sizes.map(({ position, bytes }) => ({ position, bytes: Number(bytes) })),
    limits,
  )
  if (taken.length === 0) return []
  const rows = await query(
    `SELECT CAST(position AS TEXT) AS position, octet_length(data) AS bytes,
       CASE WHEN octet_length(data) <= ? THEN CAST(data AS TEXT) END AS data, ${TEXTS}
     FROM ${OUTBOX_TABLE} WHERE position IN (SELECT value FROM json_each(?))
     ORDER BY ${OUTBOX_TABLE}.position`,
    [limits.rowBytes, JSON.stringify(taken.map(({ position }) => position))],
  )
  return rows.map(toRow)
}

const cut = (value: string): string => `substr(CAST(${value} AS TEXT), 1, ${MAX_TEXT})`
const TEXTS = `${cut('COALESCE(id, row_id)')} AS id, ${cut('account_id')} AS account_id,
  ${cut('app_id')} AS app_id, ${cut('type')} AS type`

/** One short transaction. Positions are never used again, so nothing else can have them meanwhile. */
async function record(
  query: Query,
  rows: readonly OutboxRow[],
  outcomes: readonly RowOutcome[],
): Promise<void> {
  const { published, refused } = sortOutcomes(rows, outcomes)
  if (published.length + refused.length === 0) return
  await query('BEGIN IMMEDIATE')
  try {
    await query(`DELETE FROM ${OUTBOX_TABLE} WHERE position IN (SELECT value FROM json_each(?))`, [
      JSON.stringify(published.map(({ position }) => Number(position))),
    ])
    for (const { position, code, reason } of refused) {
      await query(
        `UPDATE ${OUTBOX_TABLE} SET refused_code = ?, refused_reason = ?,
           refused_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE position = ?`,
        [code, reason, Number(position)],
      )
    }
    await query('COMMIT')
  } catch (cause) {
    await query('ROLLBACK').catch(() => undefined)
    throw cause
  }
}
