import type { Instant } from '../../../lib/time.ts'
import { removeJobs } from '../jobs/complete.ts'
import type { Dialect, Query } from '../../store/sql/client.ts'
import type { PlatformTables } from './tables.ts'

/** Asks whoever carries out a deployment of an app to stop, however far that is. */
export async function stopDeployments(
  query: Query,
  t: PlatformTables,
  appId: string,
  now: Instant,
): Promise<void> {
  await query(
    `UPDATE ${t.jobs} SET cancel_at = COALESCE(cancel_at, $2)
     WHERE app_id = $1 AND kind = 'deployment' AND EXISTS (SELECT 1 FROM ${t.deployments} one
       WHERE one.id = ${t.jobs}.id AND one.status IN ('queued', 'building', 'deploying'))`,
    [appId, now],
  )
}

/** Deletes every deployment of an app, and its site. */
export async function purgeDeployments(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
  appId: string,
): Promise<void> {
  const rows = await query<{ id: string }>(
    `DELETE FROM ${t.deployments} WHERE app_id = $1 RETURNING id`,
    [appId],
  )
  await removeJobs(query, t, 'deployment', 'app_id = $1', [appId])
  await query(`DELETE FROM ${t.job_lines} WHERE ${dialect.among('job_id', '$1')}`, [
    JSON.stringify(rows.map(({ id }) => id)),
  ])
  await query(`DELETE FROM ${t.sites} WHERE app_id = $1`, [appId])
}
