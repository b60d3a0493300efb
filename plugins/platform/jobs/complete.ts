import type { Query } from '../../store/sql/client.ts'
import type { PlatformTables } from '../sql/tables.ts'
import { changes, isHeld } from './held.ts'

/** Whoever deletes the row settles the subject, in the same unit of work. */
export function complete(
  query: Query,
  t: PlatformTables,
  id: string,
  claim: string,
): Promise<boolean> {
  return changes(query, `DELETE FROM ${t.jobs} WHERE ${isHeld()} RETURNING id`, [id, claim])
}
