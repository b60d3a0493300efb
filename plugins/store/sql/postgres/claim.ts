import type { Claim } from '../../../../lib/engine/ports.ts'
import type { Instant, Millis } from '../../../../lib/time.ts'
import { SECOND } from '../../../../lib/time.ts'
import type { Groups, Query } from '../client.ts'
import { DELIVERY } from '../deliveries.ts'
import type { Row } from '../rows.ts'
import { integer } from '../rows.ts'
import type { Tables } from '../tables.ts'
import { statusIn } from '../webhooks.ts'

/** How long index scans continue where the last one ended, before one starts at the first row again. */
const CONTINUE_FOR: Millis = SECOND
/** Maximum webhooks whose scans are remembered. */
const MAX_SCANS = 10_000

interface Scan {
  /** Due time of the last first attempt that was claimed. */
  readonly reached: Instant
  /** When a scan last started at the first row. */
  readonly started: Millis
}

/**
 * Claims due work, for one process.
 *
 * A claimed row leaves a dead entry in the index until the table is vacuumed, and each scan would step over
 * all of them: with 100,000 due deliveries that took longer than the claim itself. Therefore, after a
 * claim that found its limit, the next one continues where it ended. Work that was committed before that
 * point meanwhile is found a second later, or once a claim finds less than its limit.
 */
export function createClaimDue(steady = (): Millis => performance.now()): Groups['claim'] {
  const scans = new Map<string, Scan>()

  function beginningOf(webhookId: string): Instant {
    const scan = scans.get(webhookId)
    return scan !== undefined && steady() - scan.started < CONTINUE_FOR ? scan.reached : 0
  }

  function note(webhookId: string, quota: number, from: Instant, rows: readonly Row[]): void {
    const hasMore = rows.length === quota && rows.every((row) => integer(row['retry']) === 0)
    if (!hasMore || scans.size >= MAX_SCANS) {
      scans.delete(webhookId)
      return
    }
    const started = (from === 0 ? undefined : scans.get(webhookId)?.started) ?? steady()
    const reached = Math.max(from, ...rows.map((row) => integer(row['due'])))
    scans.set(webhookId, { reached, started })
  }

  return async (query, t, claim) => {
    if (claim.queues.length === 0) return []
    const queues = claim.queues.map(({ webhook_id, limit }) => ({
      webhook_id,
      quota: limit,
      beginning: beginningOf(webhook_id),
    }))
    const rows = await claimRows(query, t, claim, queues)
    for (const { webhook_id, quota, beginning } of queues) {
      const own = rows.filter((row) => row['webhook_id'] === webhook_id)
      note(webhook_id, quota, beginning, own)
    }
    return rows.map(DELIVERY.read)
  }
}

/**
 * Each queue is two scans over the index of due work that skip locked rows. Of the rows found, first
 * attempts are claimed before retries.
 *
 * Rows are updated by `ctid`, which stays valid under the lock: joined by id only, the planner reads the
 * whole table once its statistics say that thousands are due.
 *
 * The commit is asynchronous: a claim that a crash of the server undoes leaves its deliveries due, and they
 * are sent again.
 */
function claimRows(
  query: Query,
  t: Tables,
  { now, token, lease_until }: Claim,
  queues: readonly object[],
): Promise<Row[]> {
  return query(
    `WITH unsynced AS MATERIALIZED (
       SELECT set_config('synchronous_commit', 'off', TRUE)
     ), due AS MATERIALIZED (
       SELECT queue.webhook_id, queue.quota, head.*
       FROM jsonb_to_recordset($4::jsonb)
           AS queue (webhook_id text, quota integer, beginning bigint)
         CROSS JOIN (VALUES (0), (1)) AS kind (retry)
         CROSS JOIN LATERAL (
           SELECT ctid AS row_id, id, retry, next_at FROM ${t.deliveries}
           WHERE webhook_id = queue.webhook_id AND done_at IS NULL AND retry = kind.retry
             AND next_at >= CASE kind.retry WHEN 0 THEN queue.beginning ELSE 0 END
             AND next_at <= $1
           ORDER BY next_at, id LIMIT queue.quota FOR UPDATE SKIP LOCKED) AS head
     ), turn AS (
       SELECT row_id, id, next_at, quota,
         row_number() OVER (PARTITION BY webhook_id ORDER BY retry, next_at, id) AS number
       FROM due
     ), taken AS MATERIALIZED (SELECT row_id, id, next_at FROM turn WHERE number <= quota)
     UPDATE ${t.deliveries} d SET status = 'delivering', claim = $2, next_at = $3
     FROM taken, unsynced
     WHERE d.ctid = ANY (ARRAY(SELECT row_id FROM taken)) AND d.id = taken.id
       AND d.${statusIn('claimed')}
     RETURNING d.*, taken.next_at AS due`,
    [now, token, lease_until, JSON.stringify(queues)],
  )
}
