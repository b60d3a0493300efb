import type { EditEnd, EditReads, EditWrites } from '../contract/edits.ts'
import { MOST_LOOKED_AT, leadOn } from '../../store/contract/page.ts'
import type { JobWrites } from '../contract/jobs.ts'
import { changes, whileHeld } from '../jobs/held.ts'
import type { Query } from '../../store/sql/client.ts'
import { COLUMNS, toEdit, toTexts, toValues } from './edit-rows.ts'
import { lastIdLookedAt } from '../../store/sql/looked-at.ts'
import { BEFORE_ALL, BEHIND_ALL, assignments, insertion } from '../../store/sql/rows.ts'
import { readSizedPage } from '../../store/sql/sized-page.ts'
import type { PlatformTables } from './tables.ts'

/** As the index of what waits says it, word for word, so that it serves. */
const WAITING = `status IN ('queued', 'running')`

export function editReads(query: Query, t: PlatformTables): EditReads {
  // A running edit shows how far its job is.
  const progress = 'job.stage, job.done, job.total'
  const beside = (edit: string): string => `LEFT JOIN ${t.jobs} job ON job.id = ${edit}.id`
  const shown = `SELECT edit.*, ${progress} FROM ${t.edits} edit ${beside('edit')}`
  return {
    async get(appId, id) {
      const [row] = await query(`${shown} WHERE edit.id = $1 AND edit.app_id = $2`, [id, appId])
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
        also: progress,
        beside: beside('kept'),
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
        `${shown} WHERE edit.app_id = $1 AND edit.${WAITING} ORDER BY edit.id`,
        [appId],
      )
      return rows.map(toEdit)
    },
  }
}

export function editWrites(
  query: Query,
  t: PlatformTables,
  jobs: Pick<JobWrites, 'enqueue' | 'complete' | 'dequeue'>,
): EditWrites {
  const changed = (sql: string, bind: readonly unknown[]): Promise<boolean> =>
    changes(query, sql, bind)
  const held = `id = $1 AND status = 'running' AND ${whileHeld(t)}`

  return {
    ...editReads(query, t),
    async insert(edit) {
      const { sql, bind } = insertion(COLUMNS, toValues(edit))
      await query(`INSERT INTO ${t.edits} ${sql}`, bind)
      const { id, app_id, account_id } = edit
      const queue = `edit ${app_id}`
      if (edit.status !== 'queued') return
      await jobs.enqueue({ id, kind: 'edit', app_id, account_id, queue, run_at: null })
    },
    async begin({ id }, now) {
      const [row] = await query(
        `UPDATE ${t.edits} SET status = 'running', started_at = COALESCE(started_at, $2)
         WHERE id = $1 AND ${WAITING} RETURNING *`,
        [id, now],
      )
      return row && toEdit(row)
    },
    found: (id, claim, { base_revision, model, knowledge }) =>
      changed(
        `UPDATE ${t.edits} SET base_revision = COALESCE($3, base_revision),
           model = COALESCE($4, model), knowledge = COALESCE($5, knowledge)
         WHERE ${held} RETURNING id`,
        [id, claim, base_revision ?? null, model ?? null, knowledge ?? null],
      ),
    async finish(id, claim, end) {
      const { sql, bind } = ending(end, 3)
      const isEnded = await changed(`UPDATE ${t.edits} SET ${sql} WHERE ${held} RETURNING id`, [
        id,
        claim,
        ...bind,
      ])
      return isEnded && jobs.complete(id, claim)
    },
    async drop(id, end) {
      const { sql, bind } = ending(end, 2)
      const isEnded = await changed(
        `UPDATE ${t.edits} SET ${sql} WHERE id = $1 AND status = 'queued' RETURNING id`,
        [id, ...bind],
      )
      return isEnded && jobs.dequeue(id)
    },
  }
}

/** The columns that end an edit, their values bound from `$from` on. */
function ending(end: EditEnd, from: number): ReturnType<typeof assignments> {
  const { status, finished_at, result_revision, summary } = end
  return assignments({ status, finished_at, result_revision, summary, ...toTexts(end) }, from)
}
