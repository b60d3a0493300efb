import type { ChangeSink } from '../../store/contract/changes.ts'
import type { DeploymentReads, DeploymentWrites, NewDeployment } from '../contract/deployments.ts'
import { offlineDeployment } from '../contract/deployments.ts'
import { MOST_LOOKED_AT, leadOn } from '../../store/contract/page.ts'
import type { Dialect, Query } from '../../store/sql/client.ts'
import { COLUMNS, toDeployment, toLine, toValues } from './deployment-rows.ts'
import { lastIdLookedAt } from '../../store/sql/looked-at.ts'
import type { Row } from '../../store/sql/rows.ts'
import { BEFORE_ALL, BEHIND_ALL, cutPage, integer } from '../../store/sql/rows.ts'
import { siteReads } from './sites.ts'
import type { PlatformTables } from './tables.ts'

/** As the indexes say it, word for word, so that they serve. */
const IN_PROGRESS = `status IN ('queued', 'building', 'deploying')`
const OPEN = `announced = 0 AND status IN ('queued', 'building', 'deploying', 'live')`
/** Of what is not under way. */
const NO_PLACE = 'step = NULL, done = 0, total = NULL'
const LET_GO = `claim = NULL, lease_until = NULL, ${NO_PLACE}`

export function deploymentReads(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
): DeploymentReads {
  const first = async (sql: string, bind: readonly unknown[]) => {
    const [row] = await query(`SELECT * FROM ${t.deployments} ${sql}`, bind)
    return row && toDeployment(row)
  }
  return {
    ...siteReads(query, t, dialect),
    get: (appId, id) => first('WHERE id = $1 AND app_id = $2', [id, appId]),
    async list({ app_id, statuses, kind, limit, after }, most = MOST_LOOKED_AT) {
      const indexed = {
        table: t.deployments,
        order: 'desc',
        where: 'app_id = $1 AND id < $2',
        bind: [app_id, after ?? BEHIND_ALL],
      } as const
      const last = await lastIdLookedAt(query, indexed, most)
      const rows = await query(
        `SELECT * FROM ${t.deployments} WHERE ${indexed.where} AND id >= $3
           AND ${dialect.among('status', '$4')} AND (CAST($5 AS TEXT) IS NULL OR kind = $5)
         ORDER BY id DESC LIMIT $6`,
        [...indexed.bind, last ?? BEFORE_ALL, JSON.stringify(statuses), kind, limit + 1],
      )
      return leadOn(cutPage(rows.map(toDeployment), limit), last)
    },
    live: (appId) => first(`WHERE app_id = $1 AND status = 'live'`, [appId]),
    inProgress: (appId) => first(`WHERE app_id = $1 AND ${IN_PROGRESS}`, [appId]),
    lastFailed: (appId) =>
      first(`WHERE app_id = $1 AND status = 'failed' ORDER BY id DESC LIMIT 1`, [appId]),
    before: (appId) =>
      first(
        `past WHERE app_id = $1 AND status = 'superseded' AND NOT EXISTS (
           SELECT 1 FROM ${t.deployments} live WHERE live.app_id = $1 AND live.status = 'live'
             AND (live.artifact = past.artifact OR live.release < past.release))
         ORDER BY release DESC LIMIT 1`,
        [appId],
      ),
    async artifacts(appId, releases) {
      const rows = await query<{ artifact: string; release: unknown }>(
        `SELECT artifact, release FROM (SELECT artifact, release FROM ${t.deployments}
           WHERE app_id = $1 AND live_at IS NOT NULL AND artifact IS NOT NULL
           ORDER BY release DESC LIMIT $2) past
         UNION ALL SELECT artifact, release FROM ${t.deployments}
           WHERE app_id = $1 AND ${IN_PROGRESS} AND artifact IS NOT NULL`,
        [appId, releases],
      )
      const latest = rows.sort((a, b) => integer(b.release) - integer(a.release))
      return [...new Set(latest.map(({ artifact }) => artifact))]
    },
    async lines(id, after, limit) {
      const rows = await query(
        `SELECT * FROM ${t.deployment_lines} WHERE deployment_id = $1 AND number > $2
         ORDER BY number LIMIT $3`,
        [id, after, limit],
      )
      return rows.map(toLine)
    },
    async isClaimable(now) {
      return (await query(claimable(t), [now])).length > 0
    },
  }
}

/** The deployment to be taken up next; $1 is now. */
function claimable(t: PlatformTables): string {
  return `SELECT id FROM ${t.deployments} one WHERE ${OPEN}
      AND (status = 'queued' OR COALESCE(lease_until, 0) <= $1)
    ORDER BY (SELECT count(*) FROM ${t.deployments} busy WHERE busy.account_id = one.account_id
      AND busy.status IN ('building', 'deploying')), id LIMIT 1`
}

export function deploymentWrites(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
  changes: ChangeSink,
): DeploymentWrites {
  /** Whether a statement with RETURNING changed a row. */
  const changed = async (sql: string, bind: readonly unknown[]): Promise<boolean> =>
    (await query(sql, bind)).length > 0
  const held = (status: string): string => `id = $1 AND claim = $2 AND ${status}`
  const tell = (app_id: string): unknown => changes.push({ kind: 'site', id: app_id })

  async function insert(deployment: NewDeployment, unless: string): Promise<Row | undefined> {
    const values = toValues(deployment)
    const [row] = await dialect.onConflict(
      query,
      `INSERT INTO ${t.deployments} (${COLUMNS.join(', ')}, release)
       SELECT ${COLUMNS.map((_, index) => `$${index + 1}`).join(', ')},
         (SELECT COALESCE(max(release), 0) + 1 FROM ${t.deployments} WHERE app_id = $2)
       WHERE ${unless} RETURNING *`,
      COLUMNS.map((column) => values[column]),
    )
    return row
  }

  /** Puts a deployment, or nothing, on the app's site. */
  async function turn(app_id: string, deployment_id: string | null): Promise<void> {
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

  const supersede = (app_id: string, now: number): Promise<readonly Row[]> =>
    query(
      `UPDATE ${t.deployments} SET status = 'superseded', ended_at = $2, ${LET_GO}
       WHERE app_id = $1 AND status = 'live' RETURNING id`,
      [app_id, now],
    )

  return {
    ...deploymentReads(query, t, dialect),
    async openSite({ app_id, account_id, preview }) {
      await query(
        `INSERT INTO ${t.sites} (app_id, account_id, deployment_id, turn, preview)
         VALUES ($1, $2, NULL, 0, $3)`,
        [app_id, account_id, preview],
      )
      tell(app_id)
    },
    async insert(deployment) {
      const row = await insert(
        deployment,
        `NOT EXISTS (SELECT 1 FROM ${t.deployments} WHERE app_id = $2 AND ${IN_PROGRESS})`,
      )
      return row && toDeployment(row)
    },
    async claim({ claim, now, lease_until, deadline_at }) {
      const [row] = await query(
        `UPDATE ${t.deployments} SET claim = $2, lease_until = $3, poised = 0,
           status = CASE WHEN status = 'queued' THEN 'building' ELSE status END,
           started_at = COALESCE(started_at, $1), deadline_at = COALESCE(deadline_at, $4),
           attempts = attempts + 1, ${NO_PLACE}
         WHERE id = (${claimable(t)} ${dialect.skipLocked}) RETURNING *`,
        [now, claim, lease_until, deadline_at],
      )
      return row && toDeployment(row)
    },
    async beat(id, claim, { lease_until, step, done, total }) {
      const [row] = await query(
        `UPDATE ${t.deployments} SET lease_until = $3, step = $4, done = $5, total = $6
         WHERE ${held(OPEN)} RETURNING cancel_at, status`,
        [id, claim, lease_until, step, done, total],
      )
      if (row === undefined) return 'lost'
      return row['cancel_at'] === null || row['status'] === 'live' ? 'held' : 'cancel'
    },
    release: (id, claim, now) =>
      changed(
        `UPDATE ${t.deployments} SET lease_until = $3, attempts = attempts - 1, ${NO_PLACE}
         WHERE ${held(OPEN)} RETURNING id`,
        [id, claim, now],
      ),
    async built(id, claim, artifact) {
      const building = held(`status = 'building'`)
      const [row] = await query(
        `UPDATE ${t.deployments} SET
           status = CASE WHEN cancel_at IS NULL THEN 'deploying' ELSE status END,
           artifact = CASE WHEN cancel_at IS NULL THEN $3 ELSE artifact END
         WHERE ${building} RETURNING status`,
        [id, claim, artifact],
      )
      if (row === undefined) return 'lost'
      return row['status'] === 'deploying' ? 'held' : 'cancel'
    },
    async poise(id, claim) {
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
        `UPDATE ${t.deployments} SET live_at = $3, ${NO_PLACE}, previous_deployment_id = (
             SELECT live.id FROM ${t.deployments} live
             WHERE live.app_id = ${t.deployments}.app_id AND live.status = 'live')
         WHERE ${held(`status = 'deploying' AND poised = 1 AND cancel_at IS NULL`)}
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
      await turn(row.app_id, id)
      return live && toDeployment(live)
    },
    announce: (id) =>
      changed(
        `UPDATE ${t.deployments} SET announced = 1, ${LET_GO}
         WHERE id = $1 AND status = 'live' AND announced = 0 RETURNING id`,
        [id],
      ),
    fail: (id, claim, { status, ended_at, error }) =>
      changed(
        `UPDATE ${t.deployments} SET status = $3, ended_at = $4, error = $5, ${LET_GO}
         WHERE ${held(IN_PROGRESS)} RETURNING id`,
        [id, claim, status, ended_at, JSON.stringify(error)],
      ),
    async cancel(id, { status, ended_at, error }) {
      const isEnded = await changed(
        `UPDATE ${t.deployments} SET status = $2, ended_at = $3, error = $4, ${LET_GO}
         WHERE id = $1 AND status = 'queued' RETURNING id`,
        [id, status, ended_at, JSON.stringify(error)],
      )
      if (isEnded) return 'canceled'
      const isAsked = await changed(
        `UPDATE ${t.deployments} SET cancel_at = COALESCE(cancel_at, $2)
         WHERE id = $1 AND status = 'building' RETURNING id`,
        [id, ended_at],
      )
      return isAsked ? 'asked' : 'late'
    },
    async unpublish(given) {
      const [live] = await supersede(given.app_id, given.created_at)
      if (live === undefined) return undefined
      const offline = offlineDeployment(given)
      const row = await insert({ ...offline, previous_deployment_id: String(live['id']) }, 'TRUE')
      await turn(given.app_id, null)
      return row && toDeployment(row)
    },
    async log(id, lines) {
      if (lines.length === 0) return
      // The row gives out the numbers: of two that add lines one waits for the other.
      const [row] = await query(
        `UPDATE ${t.deployments} SET lines = lines + $2 WHERE id = $1 RETURNING lines`,
        [id, lines.length],
      )
      if (row === undefined) return
      const from = integer(row['lines']) - lines.length + 1
      await query(
        `INSERT INTO ${t.deployment_lines} (deployment_id, number, at, step, message)
         SELECT CAST($1 AS TEXT), CAST(line.value ->> 0 AS INTEGER),
           CAST(line.value ->> 1 AS BIGINT), line.value ->> 2, line.value ->> 3
         FROM ${dialect.each('$2', 'line')}`,
        [
          id,
          JSON.stringify(
            lines.map(({ at, step, message }, index) => [from + index, at, step, message]),
          ),
        ],
      )
    },
  }
}
