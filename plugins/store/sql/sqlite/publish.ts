import type { DeliveryRecord, Publication } from '../../../../lib/engine/ports.ts'
import type { Query } from '../client.ts'
import type { Tables } from '../tables.ts'

/**
 * One insert into a view whose triggers distribute the rows: a small JSON array of rows, and one blob of
 * bodies. Reading a field costs SQLite more than storing it, so a row has the common fields of an event and
 * its delivery once.
 *
 * There is one writer, so no id can have been inserted meanwhile.
 */
export async function publishGroup(
  query: Query,
  t: Tables,
  group: readonly Publication[],
): Promise<readonly Publication[]> {
  const rows: unknown[][] = []
  // Offsets count bytes from 1, as substr does on a blob.
  let offset = 1
  let isTraced = false
  for (const { event, deliveries } of group) {
    const { account_id, id, app_id, type, created_at, body, traceparent } = event
    const shared = [account_id, id, app_id, type, created_at]
    const [first, ...further] = deliveries
    const row = [...shared, offset, body.length, ...deliveryFields(first)]
    if (traceparent !== undefined) {
      row[TRACEPARENT] = traceparent
      isTraced = true
    }
    rows.push(row)
    for (const delivery of further) rows.push([...shared, 0, 0, ...deliveryFields(delivery)])
    offset += body.length
  }
  const bodies = Buffer.concat(group.map(({ event }) => event.body))
  await query(insertStatement(t, isTraced), [JSON.stringify(rows), bodies])
  return []
}

function deliveryFields(delivery: DeliveryRecord | undefined): readonly unknown[] {
  if (delivery === undefined) return []
  const { id, webhook_id, status, next_at, created_at, done_at, claim, trigger } = delivery
  return [id, webhook_id, status, next_at, created_at, done_at, claim, trigger]
}

/** Position in a row, after the fields of a delivery. */
const TRACEPARENT = 15

/** jsonb_each, since of json_each every column would parse its row anew. */
function insertStatement(t: Tables, isTraced: boolean): string {
  return `INSERT INTO ${t.publishing} (account_id, event_id, app_id, type, happened_at, body,
      id, webhook_id, status, next_at, created_at, done_at, claim, cause${isTraced ? ', traceparent' : ''})
    SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4,
      CASE WHEN value ->> 5 > 0 THEN substr($2, value ->> 5, value ->> 6) END,
      value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12,
      value ->> 13, value ->> 14${isTraced ? `, value ->> ${TRACEPARENT}` : ''}
    FROM jsonb_each($1)`
}
