import type { Query } from '../../store/sql/client.ts'
import type { PlatformTables } from '../sql/tables.ts'
import type { JobKindName } from './kinds.ts'
import { changes } from './held.ts'

export function dequeue(query: Query, t: PlatformTables, id: string): Promise<boolean> {
  return changes(query, `DELETE FROM ${t.jobs} WHERE id = $1 AND status = 'queued' RETURNING id`, [
    id,
  ])
}

/** Deletes jobs whose subjects are deleted, leased or not; `which` is a condition on `id` and `app_id`. */
export async function removeJobs(
  query: Query,
  t: PlatformTables,
  kind: JobKindName,
  which: string,
  bind: readonly unknown[],
): Promise<void> {
  await query(`DELETE FROM ${t.jobs} WHERE kind = '${kind}' AND ${which}`, bind)
}
