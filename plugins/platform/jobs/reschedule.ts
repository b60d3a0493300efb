import type { Instant } from '../../../lib/time.ts'
import type { Query } from '../../store/sql/client.ts'
import type { PlatformTables } from '../sql/tables.ts'
import { NO_PROGRESS, changesARow, isHeld } from './held.ts'

export function reschedule(
  query: Query,
  t: PlatformTables,
  id: string,
  claim: string,
  runAt: Instant,
): Promise<boolean> {
  return changesARow(
    query,
    `UPDATE ${t.jobs} SET status = 'queued', run_at = $3, attempts = 0, claim = NULL,
       lease_until = NULL, deadline_at = NULL, cancel_at = NULL, ${NO_PROGRESS}
     WHERE ${isHeld()} RETURNING id`,
    [id, claim, runAt],
  )
}
