import type { ObservationReads, ProblemRecord, ToldProblem } from '../contract/observations.ts'
import {
  MAX_NEW_OF_REPORTER,
  MAX_NEW_PROBLEMS,
  MAX_PROBLEMS,
  readPlaceOfProblem,
} from '../contract/observations.ts'
import type { Dialect, Query } from '../../store/sql/client.ts'
import { TOLD, castEach, toProblem, toToldValues } from './observation-rows.ts'
import { cutPage } from '../../store/sql/rows.ts'
import type { PlatformTables } from './tables.ts'

export function problemReads(
  query: Query,
  t: PlatformTables,
): Pick<ObservationReads, 'problem' | 'problems'> {
  return {
    async problem(appId, id) {
      const [row] = await query(`SELECT * FROM ${t.problems} WHERE id = $1 AND app_id = $2`, [
        id,
        appId,
      ])
      return row && toProblem(row)
    },
    async problems({ app_id, kind, status, since, text, limit, after }) {
      const place = after === null ? null : readPlaceOfProblem(after)
      // A text without what it holds is another text: unlike patterns, that is the same everywhere.
      const rows = await query(
        `SELECT * FROM ${t.problems} WHERE app_id = $1
           AND (CAST($2 AS TEXT) IS NULL OR (last_seen, id) < (CAST($3 AS BIGINT), $2))
           AND (CAST($4 AS TEXT) IS NULL OR kind = $4)
           AND (CAST($5 AS TEXT) IS NULL OR status = $5)
           AND (CAST($6 AS BIGINT) IS NULL OR last_seen >= $6)
           AND (CAST($7 AS TEXT) IS NULL OR replace(title, $7, '') <> title
             OR replace(culprit, $7, '') <> culprit)
         ORDER BY last_seen DESC, id DESC LIMIT $8`,
        [app_id, place?.id ?? null, place?.at ?? null, kind, status, since, text, limit + 1],
      )
      return cutPage(rows.map(toProblem), limit)
    },
  }
}

/** Counts what was told, having made room for what is new. Answers how many were kept. */
export async function recordProblems(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
  told: readonly ToldProblem[],
): Promise<number> {
  if (told.length === 0) return 0
  const bind = [JSON.stringify(told.map(toToldValues))]
  await query(makeRoom(t, dialect), bind)
  return (await query(countTold(t, dialect), bind)).length
}

/**
 * What was told of apps that are there. `turn` is its place among what is as new of its app and reporter,
 * `number` its place among what is as new of its app, reporters in turn.
 */
function toldOf(t: PlatformTables, dialect: Dialect): string {
  return `told AS (SELECT ${castEach(TOLD, 'one')} FROM ${dialect.each('$1', 'one')}),
    found AS (
      SELECT told.*, known.id AS known_id, CASE WHEN known.id IS NULL THEN 1 ELSE 0 END AS fresh,
        row_number() OVER (
          PARTITION BY told.app_id, known.id IS NULL, told.reporter ORDER BY told.id) AS turn
      FROM told JOIN ${t.apps} app ON app.id = told.app_id
        LEFT JOIN ${t.problems} known ON known.app_id = told.app_id AND known.kind = told.kind
          AND known.fingerprint = told.fingerprint),
    placed AS (
      SELECT found.*, row_number() OVER (PARTITION BY app_id, fresh ORDER BY turn, id) AS number
      FROM found)`
}

/** Those that are taken have the lowest numbers: their turns are the first. */
const IS_TAKEN = `(number <= ${MAX_NEW_PROBLEMS} AND turn <= ${MAX_NEW_OF_REPORTER})`

/** Others go for new ones, where there would be too many; none that was told of again does. */
function makeRoom(t: PlatformTables, dialect: Dialect): string {
  return `WITH ${toldOf(t, dialect)},
    crowded AS (
      SELECT app_id, sum(CASE WHEN ${IS_TAKEN} THEN fresh ELSE 0 END) + (SELECT count(*) FROM ${t.problems} kept
        WHERE kept.app_id = placed.app_id) - ${MAX_PROBLEMS} AS excess
      FROM placed GROUP BY app_id),
    unseen AS (
      SELECT kept.id, crowded.excess,
        row_number() OVER (PARTITION BY kept.app_id
          ORDER BY CASE kept.status WHEN 'open' THEN kept.count ELSE 0 END, kept.last_seen, kept.id
        ) AS number
      FROM crowded JOIN ${t.problems} kept ON kept.app_id = crowded.app_id
      WHERE crowded.excess > 0
        AND kept.id NOT IN (SELECT known_id FROM placed WHERE fresh = 0))
    DELETE FROM ${t.problems} WHERE id IN (SELECT id FROM unseen WHERE number <= excess)`
}

function countTold(t: PlatformTables, dialect: Dialect): string {
  const columns = Object.keys(TOLD).filter((column) => column !== 'reporter')
  const cameBack = `${t.problems}.status = 'resolved'
    AND excluded.last_seen > ${t.problems}.resolved_at`
  const isLater = `excluded.last_seen >= ${t.problems}.last_seen`
  const choose = (condition: string, column: string, then = `excluded.${column}`): string =>
    `${column} = CASE WHEN ${condition} THEN ${then} ELSE ${t.problems}.${column} END`
  return `WITH ${toldOf(t, dialect)}
    INSERT INTO ${t.problems} (${columns.join(', ')}, status)
    SELECT ${columns.join(', ')}, 'open' FROM placed
    WHERE fresh = 0 OR (${IS_TAKEN} AND number + (SELECT count(*) FROM ${t.problems} kept
        WHERE kept.app_id = placed.app_id) <= ${MAX_PROBLEMS})
    ON CONFLICT (app_id, kind, fingerprint) DO UPDATE SET
      count = ${t.problems}.count + excluded.count,
      ${choose(`excluded.first_seen < ${t.problems}.first_seen`, 'first_seen')},
      ${choose(isLater, 'last_seen')},
      ${choose(isLater, 'sample')},
      ${choose(cameBack, 'deployment_id')},
      ${choose(cameBack, 'edit_id')},
      ${choose(cameBack, 'reopened_at', 'excluded.last_seen')},
      ${choose(cameBack, 'status', `'open'`)}
    RETURNING id`
}

/** False when it is not open. */
export async function resolveProblem(
  query: Query,
  t: PlatformTables,
  appId: string,
  id: string,
  now: ProblemRecord['last_seen'],
): Promise<boolean> {
  const rows = await query(
    `UPDATE ${t.problems} SET status = 'resolved', resolved_at = $3
     WHERE id = $1 AND app_id = $2 AND status = 'open' RETURNING id`,
    [id, appId, now],
  )
  return rows.length > 0
}
