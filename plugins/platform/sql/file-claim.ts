import type { Instant } from '../../../lib/time.ts'
import type { FileClaim } from '../contract/files.ts'
import type { Dialect, Query } from '../../store/sql/client.ts'
import type { Row } from '../../store/sql/rows.ts'
import type { PlatformTables } from './tables.ts'

/** Whether there is a file that could be begun. */
export async function isFileClaimable(
  query: Query,
  t: PlatformTables,
  now: Instant,
): Promise<boolean> {
  const rows = await query(
    `SELECT 1 WHERE EXISTS (SELECT 1 FROM ${t.files} WHERE status = 'queued')
       OR EXISTS (SELECT 1 FROM ${t.files} WHERE ${ENDED})`,
    [now],
  )
  return rows.length > 0
}

/** Under way, and nobody's any more; $1 is now. */
const ENDED = `status = 'processing' AND COALESCE(lease_until, 0) <= $1`

/**
 * Begins the file whose turn it is.
 *
 * It hops from account to account over the index of what is queued: its cost is the accounts that wait
 * and what is under way, not the files. Within the account it is the oldest that nobody else begins at
 * this moment.
 */
export async function claimRow(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
  { claim, now, lease_until, deadline_at }: FileClaim,
): Promise<Row | undefined> {
  const queued = `${t.files} file WHERE file.status = 'queued'`
  const oldest = (condition: string): string =>
    `SELECT id FROM (SELECT id FROM ${t.files} WHERE ${condition}
       AND account_id = (SELECT account_id FROM chosen) ORDER BY id LIMIT 1 ${dialect.skipLocked})`
  const [row] = await query(
    `WITH RECURSIVE waiting (account_id) AS (
       SELECT MIN(account_id) FROM ${queued}
       UNION ALL
       SELECT (SELECT MIN(file.account_id) FROM ${queued} AND file.account_id > waiting.account_id)
       FROM waiting WHERE waiting.account_id IS NOT NULL
     ), head AS (
       SELECT account_id,
         (SELECT MIN(file.id) FROM ${queued} AND file.account_id = waiting.account_id) AS id
       FROM waiting WHERE account_id IS NOT NULL
       UNION ALL
       SELECT account_id, id FROM ${t.files} WHERE ${ENDED}
     ), chosen AS (
       SELECT account_id FROM head
       ORDER BY (SELECT count(*) FROM ${t.files} busy WHERE busy.status = 'processing'
         AND busy.account_id = head.account_id AND busy.lease_until > $1), id LIMIT 1
     ) UPDATE ${t.files} SET status = 'processing', claim = $2, lease_until = $3,
         deadline_at = COALESCE(deadline_at, $4), attempts = attempts + 1,
         stage = NULL, done = 0, total = NULL
       WHERE id = (SELECT id FROM (${oldest(`status = 'queued'`)} queued
         UNION ALL ${oldest(ENDED)} ended) candidate ORDER BY id LIMIT 1)
       RETURNING *`,
    [now, claim, lease_until, deadline_at],
  )
  return row
}
