import type { Claim } from '../../../../lib/engine/ports.ts'
import type { Query } from '../client.ts'
import type { Row } from '../rows.ts'
import type { Tables } from '../tables.ts'
import { statusIn } from '../webhooks.ts'

/** Each lane is two walks over the index of due work, so that nothing is read that is not picked. */
export async function claimDue(query: Query, t: Tables, claim: Claim): Promise<readonly Row[]> {
  const due = (lane: number, retry: 0 | 1): string =>
    `SELECT * FROM (SELECT id, retry, next_at FROM ${t.deliveries}
       WHERE webhook_id = $${lane} AND done_at IS NULL AND retry = ${retry} AND next_at <= $1
       ORDER BY next_at, id LIMIT $${lane + 1})`
  const picks = claim.lanes.map((_, index) => {
    const lane = 4 + 2 * index
    return `SELECT id FROM (SELECT * FROM (${due(lane, 0)} UNION ALL ${due(lane, 1)})
      ORDER BY retry, next_at, id LIMIT $${lane + 1})`
  })
  if (picks.length === 0) return []
  return query(
    `UPDATE ${t.deliveries} SET status = 'delivering', claim = $2, next_at = $3
     WHERE id IN (${picks.join(' UNION ALL ')}) AND ${statusIn('claimed')} RETURNING *`,
    [
      claim.now,
      claim.token,
      claim.lease_until,
      ...claim.lanes.flatMap(({ webhook_id, limit }) => [webhook_id, limit]),
    ],
  )
}
