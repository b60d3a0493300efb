import type { Instant } from '../../../lib/time.ts'
import type { AppReads, AppRecord, AppWrites } from '../contract/apps.ts'
import { ALIAS_KEPT, MOST_ALIASES_KEPT } from '../contract/apps.ts'
import { MOST_LOOKED_AT } from '../../store/contract/page.ts'
import { integer } from '../../store/sql/rows.ts'
import { asked } from '../../store/sql/conditions.ts'
import { having } from '../model/pages.ts'
import { recordsOf } from '../model/records.ts'
import type { Guard } from '../model/sequelize.ts'
import { OF_APP } from '../models.ts'
import { APPS, REVISIONS } from '../models/apps.ts'
import { stopDeployments } from './deployments.ts'
import { removeFiles } from './removed-files.ts'
import type { ReadScope, WriteScope } from './scope.ts'

export function appReads({ query, t, dialect }: ReadScope): AppReads {
  const apps = recordsOf(query, t, APPS)
  const revisions = recordsOf(query, t, REVISIONS)
  /** Ids of the apps that such a condition finds. */
  const ids = async (where: string, bind: readonly unknown[]): Promise<readonly string[]> => {
    const rows = await query<{ id: string }>(`SELECT id FROM ${t.apps} WHERE ${where}`, bind)
    return rows.map(({ id }) => id)
  }
  return {
    get: (account_id, id) => apps.get({ id, account_id }),
    list: ({ account_id, archived, status, alias, ...page }, most = MOST_LOOKED_AT) =>
      apps.page({
        of: { account_id },
        key: ['created_at', 'id'],
        wide: ['metadata'],
        filters: [
          asked('text', page.ids && JSON.stringify(page.ids), dialect.among('id', '$1')),
          asked(
            'integer',
            archived === 'include' ? null : Number(archived === 'only'),
            '(archived_at IS NOT NULL) = ($1 = 1)',
          ),
          ...having(APPS, { status, alias }),
        ],
        most,
        ...page,
      }),
    owned: (accountId, asked) =>
      ids(`account_id = $1 AND ${dialect.among('id', '$2')}`, [accountId, JSON.stringify(asked)]),
    async count(accountId) {
      const [row] = await query(
        `SELECT count(*) AS total, count(archived_at) AS archived
         FROM ${t.apps} WHERE account_id = $1`,
        [accountId],
      )
      const archived = integer(row?.['archived'])
      return { live: integer(row?.['total']) - archived, archived }
    },
    async isAliasFree(alias, { account_id, app_id, now }) {
      const rows = await query(
        `SELECT 1 FROM ${t.apps} WHERE alias = $1 AND archived_at IS NULL AND id <> $3
         UNION ALL SELECT 1 FROM ${t.left_aliases}
           WHERE alias = $1 AND account_id <> $2 AND kept_until > $4
         LIMIT 1`,
        [alias, account_id, app_id, now],
      )
      return rows.length === 0
    },
    exists: async (id) => (await ids('id = $1', [id])).length > 0,
    due: (now, limit) => ids('purge_at <= $1 ORDER BY purge_at, id LIMIT $2', [now, limit]),
    revision: (app_id, number) => revisions.get({ app_id, number }),
    revisions: ({ app_id, limit, before }) =>
      revisions.page({ of: { app_id }, key: ['number'], after: before, limit }),
  }
}

export function appWrites({ query, t, dialect, changes, rows }: WriteScope): AppWrites {
  /** Notes that where hosts lead has changed, if it has. */
  function noted(id: string, isChanged: boolean): boolean {
    if (isChanged) changes.push({ kind: 'site', id })
    return isChanged
  }
  /** Changes an app that is not archived. */
  const change = async (guard: Guard, values: Partial<AppRecord>): Promise<boolean> =>
    (await rows.update(APPS, { ...guard, archived_at: null }, APPS.toRow(values))) > 0

  /** Keeps the alias of such an app, which it has no more from then on, for its account. */
  async function keepAlias(
    where: string,
    { id, from, next = '' }: { id: string; from: Instant; next?: string | null },
  ): Promise<void> {
    const [kept] = await query<{ account_id: string }>(
      `INSERT INTO ${t.left_aliases} (alias, account_id, kept_until)
       SELECT alias, account_id, CAST($2 AS BIGINT) + ${ALIAS_KEPT} FROM ${t.apps}
       WHERE id = $1 AND ${where} AND alias IS NOT NULL AND alias <> $3
       ON CONFLICT (alias) DO UPDATE SET
         account_id = excluded.account_id, kept_until = excluded.kept_until
       RETURNING account_id`,
      [id, from, next ?? ''],
    )
    if (kept === undefined) return
    await query(
      `DELETE FROM ${t.left_aliases} WHERE account_id = $1 AND kept_until < (
         SELECT kept_until FROM ${t.left_aliases} WHERE account_id = $1
         ORDER BY kept_until DESC LIMIT 1 OFFSET ${MOST_ALIASES_KEPT - 1})`,
      [kept.account_id],
    )
  }

  /** Deletes the lines of the jobs of an app's rows, which are kept as long as the rows. */
  const removeLines = (table: string, id: string): Promise<unknown> =>
    query(
      `DELETE FROM ${t.job_lines} WHERE job_id IN (SELECT id FROM ${table} WHERE app_id = $1)`,
      [id],
    )

  return {
    ...appReads({ query, t, dialect }),
    async insert(app) {
      await rows.insert(APPS, APPS.toRow(app))
      noted(app.id, true)
    },
    async update(id, named, updated_at) {
      const { alias } = named
      if (alias === undefined) return change({ id }, { ...named, updated_at })
      await keepAlias('archived_at IS NULL', { id, from: updated_at, next: alias })
      return noted(id, await change({ id }, { ...named, updated_at }))
    },
    move: (id, from, status, updated_at) => change({ id, status: from }, { status, updated_at }),
    async advance(revision, base) {
      const { app_id: id, number, created_at } = revision
      const advanced = { revision: number, updated_at: created_at }
      const isAdvanced = noted(id, await change({ id, revision: base }, advanced))
      if (isAdvanced) await rows.insert(REVISIONS, REVISIONS.toRow(revision))
      return isAdvanced
    },
    async archive(id, now, purge_at) {
      const archived = { archived_at: now, purge_at, updated_at: now }
      if (!noted(id, await change({ id }, archived))) return false
      await keepAlias('archived_at IS NOT NULL', { id, from: purge_at })
      await stopDeployments(query, t, id, now)
      return true
    },
    async restore(id, now) {
      const restored = await query(
        `UPDATE ${t.apps} SET archived_at = NULL, purge_at = NULL, updated_at = $2,
           alias = CASE WHEN EXISTS (SELECT 1 FROM ${t.apps} other
             WHERE other.alias = ${t.apps}.alias AND other.archived_at IS NULL) THEN NULL
             ELSE alias END
         WHERE id = $1 AND archived_at IS NOT NULL RETURNING id`,
        [id, now],
      )
      return noted(id, restored.length > 0)
    },
    async purge(id, now) {
      await keepAlias('purge_at <= $2', { id, from: now })
      const gone = await query(
        `DELETE FROM ${t.apps} WHERE id = $1 AND purge_at <= $2 RETURNING id`,
        [id, now],
      )
      if (!noted(id, gone.length > 0)) return false
      await removeFiles(query, t, 'app_id = $1', [id])
      for (const { table, job } of OF_APP) {
        if (job !== undefined) await removeLines(t[table], id)
        await query(`DELETE FROM ${t[table]} WHERE app_id = $1`, [id])
      }
      return true
    },
  }
}
