import type { Claim } from '../../../../lib/engine/ports.ts'
import type { Instant, Millis } from '../../../../lib/time.ts'
import { SECOND } from '../../../../lib/time.ts'
import type { Groups, Query } from '../client.ts'
import { toDelivery } from '../deliveries.ts'
import type { Row } from '../rows.ts'
import { integer } from '../rows.ts'
import type { Tables } from '../tables.ts'
import { statusIn } from '../webhooks.ts'

/** How long walks go on where the last one ended, before one begins at the first row again. */
const ONWARDS: Millis = SECOND
/** Webhooks whose walks are remembered. */
const MOST_WALKS = 10_000

interface Walk {
  /** When the last first attempt that was taken had been due. */
  readonly reached: Instant
  /** When a walk last began at the first row. */
  readonly begun: Millis
}

/**
 * Claims due work, for one process.
 *
 * What was claimed leaves its entry in the index until the table is vacuumed, and each walk would step
 * over all of them: with 100,000 due that took longer than the claim itself. So a webhook that gave all
 * that was asked of it is gone on with where it ended. What was committed before that place meanwhile is
 * found a second later, or once there is less than is asked for.
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
 * Each lane is two walks over the index of due work, past rows that another claim holds; of what they
 * find, first attempts are taken before retries.
 *
 * They are updated by their place, which the walk's lock keeps: joined by their ids alone, the planner
 * reads the whole table once its statistics say that thousands are due.
 *
 * Nobody waits for the disk: a claim that a crash of the server undoes leaves its deliveries due, to be
 * sent again.
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
