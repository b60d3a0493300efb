import type { DeploymentReads } from '../contract/deployments.ts'
import type { EarlierRelease, HostedApp, SiteState } from '../contract/sites.ts'
import { EARLIER } from '../contract/sites.ts'
import type { Row } from '../../store/sql/rows.ts'
import { integer, integerOrNull, textOrNull } from '../../store/sql/rows.ts'
import { IS_IN_PROGRESS, SITES } from '../models/deployments.ts'
import type { ReadScope } from './scope.ts'

/** Among how many releases it is looked for what was live before. */
const LOOKED_AT = 4 * EARLIER

/** What apps serve, as hosts and owners ask for it. */
export function siteReads({
  query,
  t,
  dialect,
}: ReadScope): Pick<DeploymentReads, 'siteStates' | 'siteByAlias' | 'siteByPreview'> {
  const hosted = `SELECT site.app_id, site.account_id, site.deployment_id, app.archived_at,
      account.suspended_at, sign_in.enabled AS sign_in, live.artifact, revision.tree, CASE WHEN EXISTS (
        SELECT 1 FROM ${t.deployments} next WHERE next.app_id = site.app_id AND next.poised = 1
          AND next.${IS_IN_PROGRESS}) THEN 1 ELSE 0 END AS switching
    FROM ${t.sites} site JOIN ${t.apps} app ON app.id = site.app_id
    LEFT JOIN ${t.accounts} account ON account.id = site.account_id
    LEFT JOIN ${t.sign_in} sign_in ON sign_in.app_id = site.app_id
    LEFT JOIN ${t.deployments} live ON live.id = site.deployment_id
    LEFT JOIN ${t.revisions} revision
      ON revision.app_id = app.id AND revision.number = app.revision`

  async function withEarlier([row]: readonly Row[]): Promise<HostedApp | undefined> {
    if (row === undefined) return undefined
    const app = toHosted(row)
    if (app.artifact === null) return { ...app, earlier: [] }
    // What was switched to since the first statement has not ended.
    const rows = await query(
      `WITH past AS (
         SELECT artifact, release, ended_at, retire_earlier FROM ${t.deployments}
         WHERE app_id = $1 AND live_at IS NOT NULL AND artifact IS NOT NULL
         ORDER BY release DESC LIMIT ${LOOKED_AT})
       SELECT artifact, max(ended_at) AS replaced_at FROM past
       WHERE artifact <> $2 AND ended_at IS NOT NULL
         AND release >= COALESCE((SELECT max(release) FROM past WHERE retire_earlier = 1), 0)
       GROUP BY artifact ORDER BY max(release) DESC LIMIT ${EARLIER}`,
      [app.app_id, app.artifact],
    )
    return { ...app, earlier: rows.map(toEarlier) }
  }

  return {
    async siteStates(appIds) {
      const rows = await query(
        `SELECT site.*, account.suspended_at, CASE WHEN EXISTS (
             SELECT 1 FROM ${t.deployments} one WHERE one.app_id = site.app_id
               AND one.${IS_IN_PROGRESS}) THEN 1 ELSE 0 END
           AS in_progress
         FROM ${t.sites} site LEFT JOIN ${t.accounts} account ON account.id = site.account_id
         WHERE ${dialect.among('site.app_id', '$1')}`,
        [JSON.stringify(appIds)],
      )
      return rows.map(toState)
    },
    // An id before an alias: whoever takes the id of another's app as an alias gets nothing by it.
    siteByAlias: async (alias) =>
      withEarlier(
        await query(
          `${hosted} WHERE app.id IN (SELECT id FROM ${t.apps} WHERE id = $1 UNION ALL
             SELECT id FROM ${t.apps} WHERE alias = $1 AND archived_at IS NULL)
           ORDER BY CASE WHEN app.id = $1 THEN 0 ELSE 1 END LIMIT 1`,
          [alias],
        ),
      ),
    siteByPreview: async (preview) =>
      withEarlier(await query(`${hosted} WHERE site.preview = $1`, [preview])),
  }
}

function toState(row: Row): SiteState {
  return {
    ...SITES.toRecord(row),
    in_progress: integer(row['in_progress']) === 1,
    suspended: integerOrNull(row['suspended_at']) !== null,
  }
}

function toHosted(row: Row): Omit<HostedApp, 'earlier'> {
  return {
    app_id: String(row['app_id']),
    account_id: String(row['account_id']),
    archived: integerOrNull(row['archived_at']) !== null,
    suspended: integerOrNull(row['suspended_at']) !== null,
    sign_in: integerOrNull(row['sign_in']) === 1,
    deployment_id: textOrNull(row['deployment_id']),
    artifact: textOrNull(row['artifact']),
    tree: textOrNull(row['tree']),
    switching: integer(row['switching']) === 1,
  }
}

function toEarlier(row: Row): EarlierRelease {
  return { artifact: String(row['artifact']), replaced_at: integer(row['replaced_at']) }
}
