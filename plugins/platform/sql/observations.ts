import { uuid7Floor } from '../../../lib/internal/uuid7.ts'
import type {
  AccessLine,
  LineQuery,
  ObservationReads,
  ObservationWrites,
} from '../contract/observations.ts'
import { OBSERVED_KINDS } from '../contract/observations.ts'
import { MOST_LOOKED_AT, leadOn } from '../../store/contract/page.ts'
import type { Dialect, Query } from '../../store/sql/client.ts'
import { LINE, castEach, toCheck, toLine, toUsage } from './observation-rows.ts'
import { problemReads, recordProblems, resolveProblem } from './problems.ts'
import type { Row } from '../../store/sql/rows.ts'
import { lastIdLookedAt } from '../../store/sql/looked-at.ts'
import { BEFORE_ALL, BEHIND_ALL, cutPage, integer } from '../../store/sql/rows.ts'
import type { PlatformTables } from './tables.ts'

export function observationReads(query: Query, t: PlatformTables): ObservationReads {
  return {
    ...problemReads(query, t),
    async lines(asked, most = MOST_LOOKED_AT) {
      const { app_id, kind, status_class, since, until, path, deployment_id, limit, after } = asked
      // By their ids, which are as old as the lines: the index leads to the page, however far behind it is.
      const from = since === null ? BEFORE_ALL : uuid7Floor(since)
      const ends = [after ?? BEHIND_ALL, until === null ? BEHIND_ALL : uuid7Floor(until)]
      const [before = BEHIND_ALL] = ends.sort()
      const lines = {
        table: t.access_lines,
        order: 'desc',
        where: 'app_id = $1 AND id >= $2 AND id < $3',
        bind: [app_id, from, before],
      } as const
      const last = takesAll(asked) ? undefined : await lastIdLookedAt(query, lines, most)
      const rows = await query(
        `SELECT * FROM ${t.access_lines} WHERE app_id = $1 AND id >= $2 AND id < $3
           AND (CAST($4 AS TEXT) IS NULL OR kind = $4)
           AND (CAST($5 AS INTEGER) IS NULL OR status / 100 = $5)
           AND (CAST($6 AS TEXT) IS NULL OR substr(path, 1, length($6)) = $6)
           AND (CAST($7 AS TEXT) IS NULL OR deployment_id = $7)
         ORDER BY id DESC LIMIT $8`,
        [app_id, last ?? from, before, kind, status_class, path, deployment_id, limit + 1],
      )
      return leadOn(cutPage(rows.map(withoutPlace), limit), last)
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
      const lines = rows.map(toLine)
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
    async usage(appId, from, before) {
      const rows = await query(
        `SELECT * FROM ${t.app_usage} WHERE app_id = $1 AND day >= $2 AND day < $3
         ORDER BY day, kind, meter`,
        [appId, from, before],
      )
      return rows.map(toUsage)
    },
    async checks(appId, limit) {
      const rows = await query(
        `SELECT * FROM ${t.app_checks} WHERE app_id = $1 ORDER BY at DESC LIMIT $2`,
        [appId, limit],
      )
      return rows.map(toCheck)
    },
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

/** Whether whatever is looked at is asked for. */
function takesAll({ kind, status_class, path, deployment_id }: LineQuery): boolean {
  return [kind, status_class, path, deployment_id].every((one) => one === null)
}

function withoutPlace(row: Row): AccessLine {
  const { position: _, ...line } = toLine(row)
  return line
}

export function observationWrites(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
): ObservationWrites {
  const isThere = (id: string): string =>
    `EXISTS (SELECT 1 FROM ${t.apps} app WHERE app.id = ${id})`

  return {
    ...observationReads(query, t),
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
      const columns = Object.keys(LINE) as (keyof typeof LINE)[]
      await query(
        `INSERT INTO ${t.access_lines} (${columns.join(', ')})
         SELECT ${columns.join(', ')}
         FROM (SELECT ${castEach(LINE, 'line')} FROM ${dialect.each('$1', 'line')}) added
         WHERE ${isThere('added.app_id')} ORDER BY id
         ON CONFLICT (app_id, id) DO NOTHING`,
        [JSON.stringify(lines.map((line) => columns.map((column) => line[column])))],
      )
    },
    async addUsage(additions, asOf) {
      await query(
        `INSERT INTO ${t.app_usage} (app_id, day, kind, meter, total, as_of)
         SELECT app_id, day, kind, meter, sum(amount), CAST($2 AS BIGINT)
         FROM (SELECT ${castEach(ADDITION, 'one')} FROM ${dialect.each('$1', 'one')}) added
         WHERE ${isThere('added.app_id')} GROUP BY app_id, day, kind, meter
         ON CONFLICT (app_id, day, kind, meter) DO UPDATE SET
           total = ${t.app_usage}.total + excluded.total,
           as_of = CASE WHEN excluded.as_of > ${t.app_usage}.as_of THEN excluded.as_of
             ELSE ${t.app_usage}.as_of END`,
        [
          JSON.stringify(
            additions.map(({ app_id, day, kind, meter, amount }) => [
              app_id,
              day,
              kind,
              meter,
              amount,
            ]),
          ),
          asOf,
        ],
      )
    },
    recordProblems: (told) => recordProblems(query, t, dialect, told),
    resolveProblem: (appId, id, now) => resolveProblem(query, t, appId, id, now),
    async addChecks(checks) {
      await query(
        `INSERT INTO ${t.app_checks} (at, app_id, status, latency_ms, message)
         SELECT at, app_id, status, latency_ms, message
         FROM (SELECT ${castEach(CHECK, 'one')} FROM ${dialect.each('$1', 'one')}) added
         WHERE ${isThere('added.app_id')} ON CONFLICT (at, app_id) DO NOTHING`,
        [
          JSON.stringify(
            checks.map(({ at, app_id, status, latency_ms, message }) => [
              at,
              app_id,
              status,
              latency_ms,
              message,
            ]),
          ),
        ],
      )
    },
    async claimProbes(next, { now, furthest }) {
      const claimed = await query<{ app_id: string }>(
        `UPDATE ${t.app_probes} SET due_at = asked.due_at
         FROM (SELECT ${castEach(PROBE, 'one')} FROM ${dialect.each('$1', 'one')}) asked
         WHERE ${t.app_probes}.app_id = asked.app_id
           AND (${t.app_probes}.due_at <= $2 OR ${t.app_probes}.due_at > $3)
         RETURNING ${t.app_probes}.app_id`,
        [JSON.stringify(next.map(({ app_id, at }) => [app_id, at])), now, furthest],
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

const ADDITION = { app_id: 'TEXT', day: 'TEXT', kind: 'TEXT', meter: 'TEXT', amount: 'BIGINT' }
const CHECK = {
  at: 'BIGINT',
  app_id: 'TEXT',
  status: 'TEXT',
  latency_ms: 'BIGINT',
  message: 'TEXT',
}
const PROBE = { app_id: 'TEXT', due_at: 'BIGINT' }

/** Deletes whatever was observed of an app. */
export async function purgeObservations(
  query: Query,
  t: PlatformTables,
  appId: string,
): Promise<void> {
  for (const table of [t.access_lines, t.app_usage, t.problems, t.app_checks, t.app_probes]) {
    await query(`DELETE FROM ${table} WHERE app_id = $1`, [appId])
  }
}
