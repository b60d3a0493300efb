import type { Instant } from '../../../lib/time.ts'
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
    `UPDATE ${t.deployments} SET cancel_at = COALESCE(cancel_at, $2)
     WHERE app_id = $1 AND status IN ('queued', 'building', 'deploying')`,
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
  await query(`DELETE FROM ${t.deployment_lines} WHERE ${dialect.among('deployment_id', '$1')}`, [
    JSON.stringify(rows.map(({ id }) => id)),
  ])
  await query(`DELETE FROM ${t.sites} WHERE app_id = $1`, [appId])
}
