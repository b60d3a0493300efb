import type { ErrorGroupReads, ErrorGroupWrites, ToldErrors } from '../contract/error-groups.ts'
import {
  MAX_ERROR_GROUPS,
  MAX_NEW_ERROR_GROUPS,
  MAX_NEW_OF_REPORTER,
} from '../contract/error-groups.ts'
import type { Batch } from '../model/batches.ts'
import { batchOf } from '../model/batches.ts'
import { asked } from '../../store/sql/conditions.ts'
import { having } from '../model/pages.ts'
import { recordsOf } from '../model/records.ts'
import { ERROR_GROUPS, TOLD_ERRORS } from '../models/error-groups.ts'
import type { ReadScope, WriteScope } from './scope.ts'
import type { PlatformTables } from './tables.ts'

/** A text without what it holds is another text: unlike patterns, that is the same everywhere. */
const HOLDS_TEXT = `(replace(title, $1, '') <> title OR replace(culprit, $1, '') <> culprit)`

export function errorGroupReads({ query, t }: ReadScope): ErrorGroupReads {
  const groups = recordsOf(query, t, ERROR_GROUPS)
  return {
    errorGroup: (app_id, id) => groups.get({ id, app_id }),
    errorGroups: ({ app_id, kind, status, since, text, limit, after }) =>
      groups.page({
        of: { app_id },
        key: ['last_seen', 'id'],
        filters: [
          ...having(ERROR_GROUPS, { kind, status }),
          asked('bigint', since, 'last_seen >= $1'),
          asked('text', text, HOLDS_TEXT),
        ],
        limit,
        after,
      }),
  }
}

export function errorGroupWrites({
  query,
  t,
  dialect,
  rows,
}: WriteScope): Omit<ErrorGroupWrites, keyof ErrorGroupReads> {
  return {
    async recordErrors(told) {
      if (told.length === 0) return 0
      const batch = batchOf(dialect, TOLD_ERRORS)
      const bind = [batch.value(told)]
      await query(makeRoom(t, batch), bind)
      return (await query(countTold(t, batch), bind)).length
    },
    async resolveErrorGroup(app_id, id, now) {
      const resolved = ERROR_GROUPS.toRow({ status: 'resolved', resolved_at: now })
      return (await rows.update(ERROR_GROUPS, { id, app_id, status: 'open' }, resolved)) > 0
    },
  }
}

/**
 * What was told of apps that are there. `turn` is its place among what is as new of its app and reporter,
 * `number` its place among what is as new of its app, reporters in turn.
 */
function toldOf(t: PlatformTables, told: Batch<ToldErrors>): string {
  return `told AS (${told.rows}),
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
const IS_TAKEN = `(number <= ${MAX_NEW_ERROR_GROUPS} AND turn <= ${MAX_NEW_OF_REPORTER})`

/** Others go for new ones, where there would be too many; none that was told of again does. */
function makeRoom(t: PlatformTables, told: Batch<ToldErrors>): string {
  return `WITH ${toldOf(t, told)},
    crowded AS (
      SELECT app_id, sum(CASE WHEN ${IS_TAKEN} THEN fresh ELSE 0 END) + (SELECT count(*) FROM ${t.problems} kept
        WHERE kept.app_id = placed.app_id) - ${MAX_ERROR_GROUPS} AS excess
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

function countTold(t: PlatformTables, told: Batch<ToldErrors>): string {
  const columns = Object.keys(TOLD_ERRORS.columns).filter((column) => column !== 'reporter')
  const cameBack = `${t.problems}.status = 'resolved'
    AND excluded.last_seen > ${t.problems}.resolved_at`
  const isLater = `excluded.last_seen >= ${t.problems}.last_seen`
  const choose = (condition: string, column: string, then = `excluded.${column}`): string =>
    `${column} = CASE WHEN ${condition} THEN ${then} ELSE ${t.problems}.${column} END`
  return `WITH ${toldOf(t, told)}
    INSERT INTO ${t.problems} (${columns.join(', ')}, status)
    SELECT ${columns.join(', ')}, 'open' FROM placed
    WHERE fresh = 0 OR (${IS_TAKEN} AND number + (SELECT count(*) FROM ${t.problems} kept
        WHERE kept.app_id = placed.app_id) <= ${MAX_ERROR_GROUPS})
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
