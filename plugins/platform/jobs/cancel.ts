import type { Instant } from '../../../lib/time.ts'
import type { Query } from '../../store/sql/client.ts'
import type { PlatformTables } from '../sql/tables.ts'
import { changesARow } from './held.ts'

export function cancel(
  query: Query,
  t: PlatformTables,
  id: string,
  now: Instant,
): Promise<boolean> {
  return changesARow(
    query,
    `UPDATE ${t.jobs} SET cancel_at = COALESCE(cancel_at, $2)
     WHERE id = $1 AND status = 'running' RETURNING id`,
    [id, now],
  )
}
