import type { Query } from '../../store/sql/client.ts'
import type { PlatformTables } from '../sql/tables.ts'
import { changesARow, isHeld } from './held.ts'
import type { JobKindName } from './kinds.ts'

/** Whoever deletes the row settles the subject, in the same unit of work. */
export function complete(
  query: Query,
  t: PlatformTables,
  id: string,
  claim: string,
): Promise<boolean> {
  return changesARow(query, `DELETE FROM ${t.jobs} WHERE ${isHeld()} RETURNING id`, [id, claim])
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
