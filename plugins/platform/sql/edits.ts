import type { EditEnd, EditReads, EditRecord, EditWrites } from '../contract/edits.ts'
import { MOST_LOOKED_AT, leadOn } from '../../store/contract/page.ts'
import type { Dialect, Query } from '../../store/sql/client.ts'
import { COLUMNS, toEdit, toLine, toTexts, toValues } from './edit-rows.ts'
import { lastIdLookedAt } from '../../store/sql/looked-at.ts'
import { BEFORE_ALL, BEHIND_ALL, assignments, insertion, integer } from '../../store/sql/rows.ts'
import { readSizedPage } from '../../store/sql/sized-page.ts'
import type { PlatformTables } from './tables.ts'

/** As the indexes of what waits say it, word for word, so that they serve. */
const WAITING = `status IN ('queued', 'running')`

export function editReads(query: Query, t: PlatformTables): EditReads {
  return {
    async get(appId, id) {
      const [row] = await query(`SELECT * FROM ${t.edits} WHERE id = $1 AND app_id = $2`, [
        id,
        appId,
      ])
      return row && toEdit(row)
    },
    async list({ app_id, status, kind, initial, limit, after, bytes }, most = MOST_LOOKED_AT) {
      const indexed = {
        table: t.edits,
        order: 'desc',
        where: 'app_id = $1 AND id < $2',
        bind: [app_id, after ?? BEHIND_ALL],
      } as const
      const takesAll = [status, kind, initial].every((one) => one === null)
      const last = takesAll ? undefined : await lastIdLookedAt(query, indexed, most)
      const { rows, more } = await readSizedPage(query, {
        ...indexed,
        key: ['id'],
        size: `octet_length(COALESCE(prompt, '')) + octet_length(COALESCE(summary, ''))
          + octet_length(changed)`,
        where: `${indexed.where} AND id >= $3
          AND (CAST($4 AS TEXT) IS NULL OR status = $4)
          AND (CAST($5 AS TEXT) IS NULL OR kind = $5)
          AND (CAST($6 AS SMALLINT) IS NULL OR initial = $6)`,
        bind: [
          ...indexed.bind,
          last ?? BEFORE_ALL,
          status,
          kind,
          initial === null ? null : Number(initial),
        ],
        limit,
        bytes,
      })
      return leadOn({ rows: rows.map(toEdit), more }, last)
    },
    async waiting(appId) {
      const rows = await query(
        `SELECT * FROM ${t.edits} WHERE app_id = $1 AND ${WAITING} ORDER BY id`,
        [appId],
      )
      return rows.map(toEdit)
    },
    async lines(id, after, limit) {
      const rows = await query(
        `SELECT * FROM ${t.edit_lines} WHERE edit_id = $1 AND number > $2 ORDER BY number LIMIT $3`,
        [id, after, limit],
      )
      return rows.map(toLine)
    },
    async isClaimable(now) {
      return (await query(claimable(t), [now])).length > 0
    },
  }
}

/** The edit to be begun next; $1 is now. */
function claimable(t: PlatformTables): string {
  return `SELECT edit.id FROM ${t.edits} edit WHERE edit.${WAITING} AND (
      (edit.status = 'running' AND COALESCE(edit.lease_until, 0) <= $1)
      OR (edit.status = 'queued' AND NOT EXISTS (SELECT 1 FROM ${t.edits} other
        WHERE other.app_id = edit.app_id AND other.${WAITING}
          AND (other.status = 'running' OR other.id < edit.id))))
    ORDER BY (SELECT count(*) FROM ${t.edits} busy
      WHERE busy.account_id = edit.account_id AND busy.status = 'running'), edit.id LIMIT 1`
}

export function editWrites(query: Query, t: PlatformTables, dialect: Dialect): EditWrites {
  /** Whether a statement with RETURNING changed a row. */
  const changed = async (sql: string, bind: readonly unknown[]): Promise<boolean> =>
    (await query(sql, bind)).length > 0
  const held = `id = $1 AND claim = $2 AND status = 'running'`

  return {
    ...editReads(query, t),
    async insert(edit) {
      const { sql, bind } = insertion(COLUMNS, toValues(edit))
      await query(`INSERT INTO ${t.edits} ${sql}`, bind)
    },
    async claim({ claim, now, lease_until, deadline_at }) {
      const [row] = await dialect.onConflict(
        query,
        `UPDATE ${t.edits} SET status = 'running', claim = $2, lease_until = $3,
           started_at = COALESCE(started_at, $1), deadline_at = COALESCE(deadline_at, $4),
           attempts = attempts + 1, ${NO_PLACE}
         WHERE id = (${claimable(t)} ${dialect.skipLocked}) RETURNING *`,
        [now, claim, lease_until, deadline_at],
      )
      return row && toEdit(row)
    },
    async beat(id, claim, { lease_until, stage, done, total }) {
      const [row] = await query(
        `UPDATE ${t.edits} SET lease_until = $3, stage = $4, done = $5, total = $6
         WHERE ${held} RETURNING cancel_at`,
        [id, claim, lease_until, stage, done, total],
      )
      if (row === undefined) return 'lost'
      return row['cancel_at'] === null ? 'held' : 'cancel'
    },
    release: (id, claim, now) =>
      changed(
        `UPDATE ${t.edits} SET lease_until = $3, attempts = attempts - 1, ${NO_PLACE}
         WHERE ${held} RETURNING id`,
        [id, claim, now],
      ),
    found: (id, claim, { base_revision, model, knowledge }) =>
      changed(
        `UPDATE ${t.edits} SET base_revision = COALESCE($3, base_revision),
           model = COALESCE($4, model), knowledge = COALESCE($5, knowledge)
         WHERE ${held} RETURNING id`,
        [id, claim, base_revision ?? null, model ?? null, knowledge ?? null],
      ),
    finish(id, claim, end) {
      const { sql, bind } = ending(end, 3)
      return changed(`UPDATE ${t.edits} SET ${sql} WHERE ${held} RETURNING id`, [
        id,
        claim,
        ...bind,
      ])
    },
    drop(id, end) {
      const { sql, bind } = ending(end, 2)
      return changed(
        `UPDATE ${t.edits} SET ${sql} WHERE id = $1 AND status = 'queued' RETURNING id`,
        [id, ...bind],
      )
    },
    cancel: (id, now) =>
      changed(
        `UPDATE ${t.edits} SET cancel_at = COALESCE(cancel_at, $2)
         WHERE id = $1 AND status = 'running' RETURNING id`,
        [id, now],
      ),
    async log(id, lines) {
      if (lines.length === 0) return
      // The row gives out the numbers: of two that add lines one waits for the other.
      const [row] = await query(
        `UPDATE ${t.edits} SET lines = lines + $2 WHERE id = $1 RETURNING lines`,
        [id, lines.length],
      )
      if (row === undefined) return
      const first = integer(row['lines']) - lines.length + 1
      await query(
        `INSERT INTO ${t.edit_lines} (edit_id, number, at, stage, message)
         SELECT CAST($1 AS TEXT), CAST(line.value ->> 0 AS INTEGER),
           CAST(line.value ->> 1 AS BIGINT), line.value ->> 2, line.value ->> 3
         FROM ${dialect.each('$2', 'line')}`,
        [
          id,
          JSON.stringify(
            lines.map(({ at, stage, message }, index) => [first + index, at, stage, message]),
          ),
        ],
      )
    },
  }
}

/** Of what is not under way. */
const NO_PLACE = 'stage = NULL, done = 0, total = NULL'

/** The columns that end an edit, their values bound from `$from` on. */
function ending(end: EditEnd, from: number): ReturnType<typeof assignments> {
  const { status, finished_at, result_revision, summary } = end
  const columns = { status, finished_at, result_revision, summary, ...toTexts(end) }
  const { sql, bind } = assignments(columns, from)
  return { sql: `${sql}, claim = NULL, lease_until = NULL, ${NO_PLACE}`, bind }
}

/** Deletes every edit of an app. */
export async function purgeEdits(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
  appId: string,
): Promise<void> {
  const rows = await query<Pick<EditRecord, 'id'>>(
    `DELETE FROM ${t.edits} WHERE app_id = $1 RETURNING id`,
    [appId],
  )
  await query(`DELETE FROM ${t.edit_lines} WHERE ${dialect.among('edit_id', '$1')}`, [
    JSON.stringify(rows.map(({ id }) => id)),
  ])
}
