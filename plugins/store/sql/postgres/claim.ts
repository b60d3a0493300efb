import type { Claim } from '../../../../lib/engine/ports.ts'
import type { Instant, Millis } from '../../../../lib/time.ts'
import { SECOND } from '../../../../lib/time.ts'
import type { Groups, Query } from '../client.ts'
import { toDelivery } from '../deliveries.ts'
import type { Row } from '../rows.ts'
import { integer } from '../rows.ts'
import type { Tables } from '../tables.ts'
import { statusIn } from '../webhooks.ts'

/** How long index scans continue where the last one ended, before one starts at the first row again. */
const ONWARDS: Millis = SECOND
/** Maximum webhooks whose scans are remembered. */
const MOST_WALKS = 10_000

interface Walk {
  /** Due time of the last first attempt that was claimed. */
  readonly reached: Instant
  /** When a scan last started at the first row. */
  readonly begun: Millis
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
  const walks = new Map<string, Walk>()

  function beginningOf(webhookId: string): Instant {
    const walk = walks.get(webhookId)
    return walk !== undefined && steady() - walk.begun < ONWARDS ? walk.reached : 0
  }

  function note(webhookId: string, quota: number, from: Instant, rows: readonly Row[]): void {
    const hasMore = rows.length === quota && rows.every((row) => integer(row['retry']) === 0)
    if (!hasMore || walks.size >= MOST_WALKS) {
      walks.delete(webhookId)
      return
    }
    const begun = (from === 0 ? undefined : walks.get(webhookId)?.begun) ?? steady()
    const reached = Math.max(from, ...rows.map((row) => integer(row['due'])))
    walks.set(webhookId, { reached, begun })
  }

  return async (query, t, claim) => {
    if (claim.lanes.length === 0) return []
    const lanes = claim.lanes.map(({ webhook_id, limit }) => ({
      webhook_id,
      quota: limit,
      beginning: beginningOf(webhook_id),
    }))
    const rows = await claimRows(query, t, claim, lanes)
    for (const { webhook_id, quota, beginning } of lanes) {
      const own = rows.filter((row) => row['webhook_id'] === webhook_id)
      note(webhook_id, quota, beginning, own)
    }
    return rows.map(toDelivery)
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
  lanes: readonly object[],
): Promise<Row[]> {
  return query(
    `WITH unsynced AS MATERIALIZED (
       SELECT set_config('synchronous_commit', 'off', TRUE)
     ), due AS MATERIALIZED (
       SELECT lane.webhook_id, lane.quota, head.*
       FROM jsonb_to_recordset($4::jsonb)
           AS lane (webhook_id text, quota integer, beginning bigint)
         CROSS JOIN (VALUES (0), (1)) AS kind (retry)
         CROSS JOIN LATERAL (
           SELECT ctid AS place, id, retry, next_at FROM ${t.deliveries}
           WHERE webhook_id = lane.webhook_id AND done_at IS NULL AND retry = kind.retry
             AND next_at >= CASE kind.retry WHEN 0 THEN lane.beginning ELSE 0 END
             AND next_at <= $1
           ORDER BY next_at, id LIMIT lane.quota FOR UPDATE SKIP LOCKED) AS head
     ), turn AS (
       SELECT place, id, next_at, quota,
         row_number() OVER (PARTITION BY webhook_id ORDER BY retry, next_at, id) AS number
       FROM due
     ), taken AS MATERIALIZED (SELECT place, id, next_at FROM turn WHERE number <= quota)
     UPDATE ${t.deliveries} d SET status = 'delivering', claim = $2, next_at = $3
     FROM taken, unsynced
     WHERE d.ctid = ANY (ARRAY(SELECT place FROM taken)) AND d.id = taken.id
       AND d.${statusIn('claimed')}
     RETURNING d.*, taken.next_at AS due`,
    [now, token, lease_until, JSON.stringify(lanes)],
  )
}
