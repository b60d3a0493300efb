import type { Instant } from '../../../lib/time.ts'
import type { DeploymentReads, DeploymentWrites, NewDeployment } from '../contract/deployments.ts'
import { newDeployment } from '../contract/deployments.ts'
import { MOST_LOOKED_AT } from '../../store/contract/page.ts'
import { removeJobs } from '../jobs/complete.ts'
import { changesARow, whileHeld } from '../jobs/held.ts'
import type { Query } from '../../store/sql/client.ts'
import { having } from '../model/pages.ts'
import { recordsOf } from '../model/records.ts'
import { DEPLOYMENTS, IS_IN_PROGRESS, SITES } from '../models/deployments.ts'
import type { Row } from '../../store/sql/rows.ts'
import { integer } from '../../store/sql/rows.ts'
import type { ReadScope, WriteScope } from './scope.ts'
import { siteReads } from './sites.ts'
import type { PlatformTables } from './tables.ts'

/** What is given of a deployment that is added. */
const GIVEN = DEPLOYMENTS.columns.filter((column) => column !== 'release')

export function deploymentReads({ query, t, dialect }: ReadScope): DeploymentReads {
  const deployments = recordsOf(query, t, DEPLOYMENTS)
  return {
    ...siteReads({ query, t, dialect }),
    get: (app_id, id) => deployments.get({ id, app_id }),
    list: ({ app_id, statuses, kind, ...page }, most = MOST_LOOKED_AT) =>
      deployments.page({
        of: { app_id },
        filters: [
          { sql: dialect.among('status', '$1'), bind: [JSON.stringify(statuses)] },
          ...having(DEPLOYMENTS, { kind }),
        ],
        most,
        ...page,
      }),
    live: (appId) => deployments.first(`app_id = $1 AND status = 'live'`, [appId]),
    inProgress: (appId) => deployments.first(`app_id = $1 AND ${IS_IN_PROGRESS}`, [appId]),
    lastFailed: (appId) =>
      deployments.first(`app_id = $1 AND status = 'failed' ORDER BY id DESC LIMIT 1`, [appId]),
    before: (appId) =>
      deployments.first(
        `app_id = $1 AND status = 'superseded' AND NOT EXISTS (
           SELECT 1 FROM ${t.deployments} live WHERE live.app_id = $1 AND live.status = 'live'
             AND (live.artifact = ${t.deployments}.artifact
               OR live.release < ${t.deployments}.release))
         ORDER BY release DESC LIMIT 1`,
        [appId],
      ),
    async artifacts(appId, releases) {
      const rows = await query<{ artifact: string; release: unknown }>(
        `SELECT artifact, release FROM (SELECT artifact, release FROM ${t.deployments}
           WHERE app_id = $1 AND live_at IS NOT NULL AND artifact IS NOT NULL
           ORDER BY release DESC LIMIT $2) past
         UNION ALL SELECT artifact, release FROM ${t.deployments}
           WHERE app_id = $1 AND ${IS_IN_PROGRESS} AND artifact IS NOT NULL`,
        [appId, releases],
      )
      const latest = rows.sort((a, b) => integer(b.release) - integer(a.release))
      return [...new Set(latest.map(({ artifact }) => artifact))]
    },
  }
}

export function deploymentWrites({
  query,
  t,
  dialect,
  changes,
  rows,
  jobs,
}: WriteScope): DeploymentWrites {
  const changed = (sql: string, bind: readonly unknown[]): Promise<boolean> =>
    changesARow(query, sql, bind)
  const held = (status: string): string => `id = $1 AND ${status} AND ${whileHeld(t)}`
  /** Held, and not asked to stop. */
  const wanted = (status: string): string => `${held(status)} AND NOT EXISTS (
    SELECT 1 FROM ${t.jobs} WHERE id = $1 AND cancel_at IS NOT NULL)`
  const tell = (app_id: string): unknown => changes.push({ kind: 'site', id: app_id })

  async function insert(deployment: NewDeployment, unless: string): Promise<Row | undefined> {
    const values = DEPLOYMENTS.toRow(deployment)
    const [row] = await dialect.onConflict(
      query,
      `INSERT INTO ${t.deployments} (${GIVEN.join(', ')}, release)
       SELECT ${GIVEN.map((_, index) => `$${index + 1}`).join(', ')},
         (SELECT COALESCE(max(release), 0) + 1 FROM ${t.deployments} WHERE app_id = $2)
       WHERE ${unless} RETURNING *`,
      GIVEN.map((column) => values[column]),
    )
    if (row !== undefined && deployment.status === 'queued') {
      const { id, app_id, account_id } = deployment
      await jobs.enqueue({ id, kind: 'deployment', app_id, account_id, queue: null, run_at: null })
    }
    return row
  }

  /** Puts a deployment, or nothing, on the app's site. */
  async function switchTo(app_id: string, deployment_id: string | null): Promise<void> {
    await query(`UPDATE ${t.sites} SET deployment_id = $2, turn = turn + 1 WHERE app_id = $1`, [
      app_id,
      deployment_id,
    ])
    // A probe is due from when something is live, and never while nothing is.
    await query(
      deployment_id === null
        ? `DELETE FROM ${t.app_probes} WHERE app_id = $1`
        : `INSERT INTO ${t.app_probes} (app_id, due_at) VALUES ($1, 0) ON CONFLICT DO NOTHING`,
      [app_id],
    )
    tell(app_id)
  }

  async function supersede(app_id: string, now: number): Promise<Row | undefined> {
    const [live] = await query(
      `UPDATE ${t.deployments} SET status = 'superseded', ended_at = $2
       WHERE app_id = $1 AND status = 'live' RETURNING id`,
      [app_id, now],
    )
    if (live !== undefined) await removeJobs(query, t, 'deployment', 'id = $1', [live['id']])
    return live
  }

  return {
    ...deploymentReads({ query, t, dialect }),
    async openSite(site) {
      await rows.insert(SITES, SITES.toRow({ ...site, deployment_id: null, generation: 0 }))
      tell(site.app_id)
    },
    async insert(deployment) {
      const row = await insert(
        deployment,
        `NOT EXISTS (SELECT 1 FROM ${t.deployments} WHERE app_id = $2 AND ${IS_IN_PROGRESS})`,
      )
      return row && DEPLOYMENTS.toRecord(row)
    },
    async begin({ id, cancel_at }, now) {
      const [row] = await query(
        `UPDATE ${t.deployments} SET poised = 0,
           status = CASE WHEN status = 'queued' THEN 'building' ELSE status END,
           started_at = COALESCE(started_at, $2)
         WHERE id = $1 AND announced = 0 AND status IN ('queued', 'building', 'deploying', 'live')
         RETURNING *`,
        [id, now],
      )
      return row && DEPLOYMENTS.toRecord({ ...row, cancel_at })
    },
    async built(id, claim, artifact) {
      const isBuilt = await changed(
        `UPDATE ${t.deployments} SET status = 'deploying', artifact = $3
         WHERE ${wanted(`status = 'building'`)} RETURNING id`,
        [id, claim, artifact],
      )
      if (isBuilt) return 'held'
      return (await jobs.hold(id, claim)) === 'cancel' ? 'cancel' : 'lost'
    },
    async prepareSwitch(id, claim) {
      const [row] = await query<{ app_id: string }>(
        `UPDATE ${t.deployments} SET poised = 1 WHERE ${held(`status = 'deploying'`)}
         RETURNING app_id`,
        [id, claim],
      )
      if (row !== undefined) tell(row.app_id)
      return row !== undefined
    },
    async switch(id, claim, now) {
      const [row] = await query<{ app_id: string }>(
        `UPDATE ${t.deployments} SET live_at = $3, previous_deployment_id = (
             SELECT live.id FROM ${t.deployments} live
             WHERE live.app_id = ${t.deployments}.app_id AND live.status = 'live')
         WHERE ${wanted(`status = 'deploying' AND poised = 1`)}
           AND EXISTS (SELECT 1 FROM ${t.apps} app
             WHERE app.id = ${t.deployments}.app_id AND app.archived_at IS NULL)
           AND NOT EXISTS (SELECT 1 FROM ${t.accounts} account
             WHERE account.id = ${t.deployments}.account_id AND account.suspended_at IS NOT NULL)
         RETURNING app_id`,
        [id, claim, now],
      )
      if (row === undefined) return undefined
      await supersede(row.app_id, now)
      const [live] = await query(
        `UPDATE ${t.deployments} SET status = 'live' WHERE id = $1 RETURNING *`,
        [id],
      )
      await switchTo(row.app_id, id)
      return live && DEPLOYMENTS.toRecord(live)
    },
    async announce(id) {
      const isFirst = await changed(
        `UPDATE ${t.deployments} SET announced = 1
         WHERE id = $1 AND status = 'live' AND announced = 0 RETURNING id`,
        [id],
      )
      if (isFirst) await removeJobs(query, t, 'deployment', 'id = $1', [id])
      return isFirst
    },
    async fail(id, claim, { status, ended_at, error }) {
      const isEnded = await changed(
        `UPDATE ${t.deployments} SET status = $3, ended_at = $4, error = $5
         WHERE ${held(IS_IN_PROGRESS)} RETURNING id`,
        [id, claim, status, ended_at, JSON.stringify(error)],
      )
      return isEnded && jobs.complete(id, claim)
    },
    async cancel(id, { status, ended_at, error }) {
      const isEnded = await changed(
        `UPDATE ${t.deployments} SET status = $2, ended_at = $3, error = $4
         WHERE id = $1 AND status = 'queued' RETURNING id`,
        [id, status, ended_at, JSON.stringify(error)],
      )
      if (isEnded) {
        await jobs.dequeue(id)
        return 'canceled'
      }
      const building = `SELECT 1 FROM ${t.deployments} WHERE id = $1 AND status = 'building'`
      const isBuilding = (await query(building, [id])).length > 0
      return isBuilding && (await jobs.cancel(id, ended_at)) ? 'asked' : 'late'
    },
    async unpublish(given) {
      const live = await supersede(given.app_id, given.created_at)
      if (live === undefined) return undefined
      const offline = newDeployment({
        ...given,
        kind: 'unpublish',
        status: 'unpublished',
        revision: null,
        edit_id: null,
        previous_deployment_id: String(live['id']),
        started_at: given.created_at,
        ended_at: given.created_at,
        announced: true,
      })
      const row = await insert(offline, 'TRUE')
      await switchTo(given.app_id, null)
      return row && DEPLOYMENTS.toRecord(row)
    },
  }
}

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
       WHERE one.id = ${t.jobs}.id AND one.${IS_IN_PROGRESS})`,
    [appId, now],
  )
}
