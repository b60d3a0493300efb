import type { Query } from '../../store/sql/client.ts'
import type { NewJob } from '../contract/jobs.ts'
import type { PlatformTables } from '../sql/tables.ts'
import { changesARow } from './held.ts'

export async function enqueue(query: Query, t: PlatformTables, job: NewJob): Promise<void> {
  const { id, kind, app_id, account_id, queue, run_at } = job
  await query(
    `INSERT INTO ${t.jobs} (id, kind, app_id, account_id, queue, status, run_at, attempts, done)
     VALUES ($1, $2, $3, $4, $5, 'queued', $6, 0, 0) ON CONFLICT (id) DO NOTHING`,
    [id, kind, app_id, account_id, queue, run_at],
  )
}

/** The way back, while nobody has claimed it. */
export function dequeue(query: Query, t: PlatformTables, id: string): Promise<boolean> {
  return changesARow(
    query,
    `DELETE FROM ${t.jobs} WHERE id = $1 AND status = 'queued' RETURNING id`,
    [id],
  )
}
