import type { Feed, Query } from '../client.ts'
import type { Tables } from '../tables.ts'

const compare = (operator: '<' | '<=' | '>' | '>=', parameter: string): string =>
  `(era, xact, position) ${operator} (split_part(${parameter}, '-', 1)::integer,
    split_part(${parameter}, '-', 2)::xid8, split_part(${parameter}, '-', 3)::bigint)`

/**
 * A cursor is (epoch, transaction, position). A position is drawn long before its transaction commits, so
 * the feed contains only transactions older than every one that still runs on this server.
 */
export const FEED: Feed = {
  prepare: keepEpoch,
  columns: `era INTEGER NOT NULL DEFAULT 0,
    xact xid8 NOT NULL DEFAULT pg_current_xact_id(),`,
  key: ['era', 'xact', 'position'],
  settled: (t) =>
    `(era, xact) < ((SELECT CAST(value AS INTEGER) FROM ${t.meta} WHERE name = '${ERA}'),
      pg_snapshot_xmin(pg_current_snapshot()))`,
  beyond: (way, parameter) => compare(way === 'asc' ? '>' : '<', parameter),
  upTo: (way, parameter) => compare(way === 'asc' ? '<=' : '>=', parameter),
  print: (row) => `${String(row['era'])}-${String(row['xact'])}-${String(row['position'])}`,
  // Every transaction that has committed is numbered below the snapshot's end.
  last: (t) =>
    `(SELECT value FROM ${t.meta} WHERE name = '${ERA}')
      || '-' || CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) || '-0'`,
  format: /^\d{1,9}-\d{1,19}-\d{1,18}$/,
}

const ERA = 'feed_era'
const CLUSTER = 'feed_cluster'

/**
 * Begins a new epoch when the database is in another cluster than at the last opening.
 *
 * After a restore into another cluster, transaction numbers may be lower than before: without epochs,
 * readers would already have passed what is published from now on. The column is named `era`.
 */
export async function keepEpoch(query: Query, t: Tables): Promise<void> {
  const [here] = await query('SELECT system_identifier AS cluster FROM pg_control_system()')
  const cluster = String(here?.['cluster'])
  await query(
    `INSERT INTO ${t.meta} (name, value) VALUES ('${ERA}', '0'), ('${CLUSTER}', $1)
     ON CONFLICT (name) DO NOTHING`,
    [cluster],
  )
  const [moved] = await query(
    `UPDATE ${t.meta} SET value = $1 WHERE name = '${CLUSTER}' AND value <> $1 RETURNING name`,
    [cluster],
  )
  if (moved === undefined) return
  const [era] = await query<{ value: string }>(
    `UPDATE ${t.meta} SET value = CAST(value AS INTEGER) + 1 WHERE name = '${ERA}' RETURNING value`,
  )
  await query(`ALTER TABLE ${t.events} ALTER COLUMN era SET DEFAULT ${Number(era?.value)}`)
}
