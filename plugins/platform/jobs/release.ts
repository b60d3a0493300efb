import type { Query } from '../../store/sql/client.ts'
import type { JobWrites } from '../contract/jobs.ts'
import type { PlatformTables } from '../sql/tables.ts'
import { NO_PROGRESS, changesARow, isHeld } from './held.ts'

/** It runs on as far as its subject shows; its lease ends, so that whoever claims next gets it. */
export function release(
  query: Query,
  t: PlatformTables,
  id: string,
  claim: string,
  { until, counted }: Parameters<JobWrites['release']>[2],
): Promise<boolean> {
  return changesARow(
    query,
    `UPDATE ${t.jobs} SET lease_until = $3, attempts = attempts - $4, ${NO_PROGRESS}
     WHERE ${isHeld()} RETURNING id`,
    [id, claim, until, counted ? 0 : 1],
  )
}
