import { uuid7Floor } from '../../../lib/internal/uuid7.ts'
import type { ObservationReads, ObservationWrites } from '../contract/observations.ts'
import { OBSERVED_KINDS } from '../contract/observations.ts'
import { MOST_LOOKED_AT } from '../../store/contract/page.ts'
import { integer } from '../../store/sql/rows.ts'
import type { Batch } from '../model/batches.ts'
import { batchOf } from '../model/batches.ts'
import { asked } from '../../store/sql/conditions.ts'
import { having } from '../model/pages.ts'
import { recordsOf } from '../model/records.ts'
import {
  ACCESS_LINES,
  APP_CHECKS,
  APP_PROBES,
  APP_USAGE,
  USAGE_ADDITION,
} from '../models/observations.ts'
import { errorGroupReads, errorGroupWrites } from './error-groups.ts'
import type { ReadScope, WriteScope } from './scope.ts'

export function observationReads({ query, t, dialect }: ReadScope): ObservationReads {
  const accessLines = recordsOf(query, t, ACCESS_LINES)
  return {
    ...errorGroupReads({ query, t, dialect }),
    lines({ app_id, kind, status_class, since, until, path, deployment_id, ...page }, most) {
      // By their ids, which are as old as the lines: the index leads to the page, however far behind it is.
      const from = since === null ? [] : [{ sql: 'id >= $1', bind: [uuid7Floor(since)] }]
      const before = until === null ? [] : [{ sql: 'id < $1', bind: [uuid7Floor(until)] }]
      return accessLines.page({
        of: { app_id },
        within: [...from, ...before],
        filters: [
          ...having(ACCESS_LINES, { kind, deployment_id }),
          asked('integer', status_class, 'status / 100 = $1'),
          asked('text', path, 'substr(path, 1, length($1)) = $1'),
        ],
        most: most ?? MOST_LOOKED_AT,
        ...page,
      })
    },
    async tail({ app_id, kind, after, limit }) {
      const kinds = kind === null ? OBSERVED_KINDS : [kind]
      const order = after === null ? 'DESC' : 'ASC'
      // An index holds the lines of each kind in the order of this expression.
      const each = kinds.map(
        (_, index) =>
          `SELECT * FROM (SELECT * FROM ${t.access_lines}
             WHERE app_id = $1 AND kind = $${index + 4} AND position + 0 > $2
             ORDER BY position + 0 ${order} LIMIT $3) of_kind`,
      )
      const rows = await query(
        `SELECT * FROM (${each.join(' UNION ALL ')}) lines ORDER BY position ${order} LIMIT $3`,
        [app_id, after ?? 0, limit, ...kinds],
      )
      const lines = rows.map((row) => ({
        ...ACCESS_LINES.toRecord(row),
        position: integer(row['position']),
      }))
      return after === null ? lines.reverse() : lines
    },
    async rate(appId, kind, since, most) {
      const [row] = await query(
        `SELECT count(*) AS requests,
           COALESCE(sum(CASE WHEN status >= 500 THEN 1 ELSE 0 END), 0) AS errors
         FROM (SELECT status FROM ${t.access_lines} WHERE app_id = $1 AND kind = $2 AND id >= $3
           ORDER BY id DESC LIMIT $4) latest`,
        [appId, kind, uuid7Floor(since), most],
      )
      return { requests: integer(row?.['requests']), errors: integer(row?.['errors']) }
    },
    usage: (appId, from, before) =>
      recordsOf(query, t, APP_USAGE).select(
        'app_id = $1 AND day >= $2 AND day < $3 ORDER BY day, kind, meter',
        [appId, from, before],
      ),
    checks: (appId, limit) =>
      recordsOf(query, t, APP_CHECKS).select('app_id = $1 ORDER BY at DESC LIMIT $2', [
        appId,
        limit,
      ]),
    async uptime(appId, since) {
      const [row] = await query(
        `SELECT count(*) AS checks,
           COALESCE(sum(CASE WHEN status = 'pass' THEN 1 ELSE 0 END), 0) AS passed
         FROM ${t.app_checks} WHERE app_id = $1 AND at >= $2`,
        [appId, since],
      )
      return { checks: integer(row?.['checks']), passed: integer(row?.['passed']) }
    },
    async dueProbes({ now, furthest }, limit) {
      const first = (condition: string): string =>
        `SELECT * FROM (SELECT app_id, due_at FROM ${t.app_probes} WHERE ${condition}
           ORDER BY due_at, app_id LIMIT $3) first`
      const rows = await query<{ app_id: string }>(
        `SELECT app_id FROM (${first('due_at <= $1')} UNION ALL ${first('due_at > $2')}) due
         ORDER BY due_at, app_id LIMIT $3`,
        [now, furthest, limit],
      )
      return rows.map(({ app_id }) => app_id)
    },
  }
}

export function observationWrites(scope: WriteScope): ObservationWrites {
  const { query, t, dialect } = scope
  /** Of the batch, what apps are there of. */
  const ofApps = ({ rows: added }: Batch<never>): string =>
    `FROM (${added}) added WHERE EXISTS (SELECT 1 FROM ${t.apps} app WHERE app.id = added.app_id)`

  return {
    ...observationReads(scope),
    ...errorGroupWrites(scope),
    async beginBatch(source, number, now) {
      const rows = await query(
        `INSERT INTO ${t.observers} (source, batch, at) VALUES ($1, $2, $3)
         ON CONFLICT (source) DO UPDATE SET batch = excluded.batch, at = excluded.at
         WHERE ${t.observers}.batch < excluded.batch RETURNING source`,
        [source, number, now],
      )
      return rows.length > 0
    },
    async addLines(lines) {
      const batch = batchOf(dialect, ACCESS_LINES.record)
      await query(
        `INSERT INTO ${t.access_lines} (${batch.columns})
         SELECT ${batch.columns} ${ofApps(batch)} ORDER BY id
         ON CONFLICT (app_id, id) DO NOTHING`,
        [batch.value(lines)],
      )
    },
    async addUsage(additions, asOf) {
      const batch = batchOf(dialect, USAGE_ADDITION)
      await query(
        `INSERT INTO ${t.app_usage} (app_id, day, kind, meter, total, as_of)
         SELECT app_id, day, kind, meter, sum(amount), CAST($2 AS BIGINT) ${ofApps(batch)}
         GROUP BY app_id, day, kind, meter
         ON CONFLICT (app_id, day, kind, meter) DO UPDATE SET
           total = ${t.app_usage}.total + excluded.total,
           as_of = CASE WHEN excluded.as_of > ${t.app_usage}.as_of THEN excluded.as_of
             ELSE ${t.app_usage}.as_of END`,
        [batch.value(additions), asOf],
      )
    },
    async addChecks(checks) {
      const batch = batchOf(dialect, APP_CHECKS.record)
      await query(
        `INSERT INTO ${t.app_checks} (${batch.columns}) SELECT ${batch.columns} ${ofApps(batch)}
         ON CONFLICT (at, app_id) DO NOTHING`,
        [batch.value(checks)],
      )
    },
    async claimProbes(next, { now, furthest }) {
      const batch = batchOf(dialect, APP_PROBES.record)
      const claimed = await query<{ app_id: string }>(
        `UPDATE ${t.app_probes} SET due_at = asked.due_at
         FROM (${batch.rows}) asked
         WHERE ${t.app_probes}.app_id = asked.app_id
           AND (${t.app_probes}.due_at <= $2 OR ${t.app_probes}.due_at > $3)
         RETURNING ${t.app_probes}.app_id`,
        [batch.value(next), now, furthest],
      )
      const served = await query<{ app_id: string }>(
        `SELECT site.app_id FROM ${t.sites} site JOIN ${t.apps} app ON app.id = site.app_id
           LEFT JOIN ${t.accounts} account ON account.id = site.account_id
         WHERE ${dialect.among('site.app_id', '$1')} AND site.deployment_id IS NOT NULL
           AND app.archived_at IS NULL AND account.suspended_at IS NULL`,
        [JSON.stringify(claimed.map(({ app_id }) => app_id))],
      )
      return served.map(({ app_id }) => app_id)
    },
  }
}
