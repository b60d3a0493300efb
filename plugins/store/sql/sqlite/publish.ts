import type { Publication } from '../../../../lib/engine/ports.ts'
import type { Query } from '../client.ts'
import type { Tables } from '../tables.ts'

/**
 * One insert into a view whose triggers spread it: a small JSON array of rows, and one blob of bodies.
 *
 * Nobody else writes in between, so that none of them can be kept already.
 */
export async function publishGroup(
  query: Query,
  t: Tables,
  group: readonly Publication[],
): Promise<readonly Publication[]> {
  // Offsets count bytes from 1, as substr does on a blob.
  let offset = 1
  const rows: unknown[][] = []
  for (const { event } of group) {
    const { account_id, id, app_id, type, created_at, body } = event
    rows.push(['event', account_id, id, app_id, type, created_at, offset, body.length])
    offset += body.length
  }
  for (const d of group.flatMap(({ deliveries }) => deliveries)) {
    rows.push([
      'delivery',
      d.account_id,
      d.id,
      d.app_id,
      d.event_type,
      d.created_at,
      0,
      0,
      d.webhook_id,
      d.event_id,
      d.status,
      d.next_at,
      d.done_at,
      d.claim,
      d.trigger,
    ])
  }
  const bodies = Buffer.concat(group.map(({ event }) => event.body))
  await query(insertStatement(t), [JSON.stringify(rows), bodies])
  return []
}

function insertStatement(t: Tables): string {
  return `INSERT INTO ${t.publishing} (kind, account_id, id, app_id, type, created_at, body,
      webhook_id, event_id, status, next_at, done_at, claim, cause)
    SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
      CASE WHEN value ->> 0 = 'event' THEN substr($2, value ->> 6, value ->> 7) END,
      value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13,
      value ->> 14
    FROM jsonb_each($1)`
}
