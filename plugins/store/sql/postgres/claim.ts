import type { Claim, DeliveryRecord } from '../../../../lib/engine/ports.ts'
import type { Query } from '../client.ts'
import { toDelivery } from '../deliveries.ts'
import type { Tables } from '../tables.ts'
import { statusIn } from '../webhooks.ts'

/**
 * Each lane is two walks over the index of due work, past rows that another claim holds; of what they
 * find, first attempts are taken before retries.
 */
export async function claimDue(
  query: Query,
  t: Tables,
  claim: Claim,
): Promise<readonly DeliveryRecord[]> {
  if (claim.lanes.length === 0) return []
  const rows = await query(
    `WITH due AS MATERIALIZED (
       SELECT lane.webhook_id, lane.quota, head.*
       FROM jsonb_to_recordset($4::jsonb) AS lane (webhook_id text, quota integer)
         CROSS JOIN (VALUES (0), (1)) AS kind (retry)
         CROSS JOIN LATERAL (
           SELECT id, retry, next_at FROM ${t.deliveries}
           WHERE webhook_id = lane.webhook_id AND done_at IS NULL AND retry = kind.retry
             AND next_at <= $1
           ORDER BY next_at, id LIMIT lane.quota FOR UPDATE SKIP LOCKED) AS head
     ), turn AS (
       SELECT id, quota,
         row_number() OVER (PARTITION BY webhook_id ORDER BY retry, next_at, id) AS number
       FROM due)
     UPDATE ${t.deliveries} SET status = 'delivering', claim = $2, next_at = $3
     WHERE id IN (SELECT id FROM turn WHERE number <= quota) AND ${statusIn('claimed')} RETURNING *`,
    [
      claim.now,
      claim.token,
      claim.lease_until,
      JSON.stringify(claim.lanes.map(({ webhook_id, limit }) => ({ webhook_id, quota: limit }))),
    ],
  )
  return rows.map(toDelivery)
}
