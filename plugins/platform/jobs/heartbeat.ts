import type { Query } from '../../store/sql/client.ts'
import type { Row } from '../../store/sql/rows.ts'
import type { Hold, JobWrites } from '../contract/jobs.ts'
import type { PlatformTables } from '../sql/tables.ts'
import { isHeld } from './held.ts'

export async function heartbeat(
  query: Query,
  t: PlatformTables,
  id: string,
  claim: string,
  { lease_until, stage, done, total }: Parameters<JobWrites['heartbeat']>[2],
): Promise<Hold> {
  const [row] = await query(
    `UPDATE ${t.jobs} SET lease_until = $3, stage = $4, done = $5, total = $6
     WHERE ${isHeld()} RETURNING cancel_at`,
    [id, claim, lease_until, stage, done, total],
  )
  return toHold(row)
}

export async function readHold(
  query: Query,
  t: PlatformTables,
  id: string,
  claim: string,
): Promise<Hold> {
  const [row] = await query(`SELECT cancel_at FROM ${t.jobs} WHERE ${isHeld()}`, [id, claim])
  return toHold(row)
}

function toHold(row: Row | undefined): Hold {
  if (row === undefined) return 'lost'
  return row['cancel_at'] === null ? 'held' : 'cancel'
}
