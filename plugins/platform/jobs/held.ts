import type { Query } from '../../store/sql/client.ts'
import type { PlatformTables } from '../sql/tables.ts'

/** A condition on jobs: the one of this id is leased under this claim. */
export function isHeld(id = '$1', claim = '$2'): string {
  return `id = ${id} AND claim = ${claim} AND status = 'running'`
}

/** A condition on any statement of a unit of work: the job is leased under the claim. */
export function whileHeld(t: PlatformTables, id = '$1', claim = '$2'): string {
  return `EXISTS (SELECT 1 FROM ${t.jobs} WHERE ${isHeld(id, claim)})`
}

/** The progress of a job that has none. */
export const NO_PROGRESS = 'stage = NULL, done = 0, total = NULL'

/** Runs a statement with RETURNING and resolves whether it changed a row. */
export async function changesARow(
  query: Query,
  sql: string,
  bind: readonly unknown[],
): Promise<boolean> {
  return (await query(sql, bind)).length > 0
}
