import type { EditReads, EditRecord, EditWrites } from '../contract/edits.ts'
import { MOST_LOOKED_AT } from '../../store/contract/page.ts'
import { changesARow, whileHeld } from '../jobs/held.ts'
import { assignments } from '../../store/sql/rows.ts'
import { having } from '../model/pages.ts'
import { recordsOf } from '../model/records.ts'
import { EDITS } from '../models/edits.ts'
import type { ReadScope, WriteScope } from './scope.ts'

/** As the index of what waits says it, word for word, so that it serves. */
const WAITING = `status IN ('queued', 'running')`

export function editReads({ query, t }: ReadScope): EditReads {
  const edits = recordsOf(query, t, EDITS)
  return {
    get: (app_id, id) => edits.get({ id, app_id }),
    list: ({ app_id, status, kind, initial, ...page }, most = MOST_LOOKED_AT) =>
      edits.page({
        of: { app_id },
        wide: ['prompt', 'summary', 'changed'],
        filters: having(EDITS, {
          status,
          kind,
          initial: initial === null ? null : Number(initial),
        }),
        most,
        ...page,
      }),
    waiting: (appId) => edits.select(`app_id = $1 AND ${WAITING} ORDER BY id`, [appId]),
  }
}

export function editWrites({ query, t, dialect, rows, jobs }: WriteScope): EditWrites {
  /** Changes an edit, or nothing of it, while its job is leased under the claim. */
  const change = (id: string, claim: string, values: Partial<EditRecord>): Promise<boolean> => {
    const { sql, bind } = assignments(EDITS.toRow(values), 3)
    return changesARow(
      query,
      `UPDATE ${t.edits} SET ${sql || 'id = id'} WHERE id = $1 AND status = 'running' AND ${whileHeld(t)}
       RETURNING id`,
      [id, claim, ...bind],
    )
  }

  return {
    ...editReads({ query, t, dialect }),
    async insert(edit) {
      await rows.insert(EDITS, EDITS.toRow(edit))
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
      return row && EDITS.toRecord(row)
    },
    found: change,
    finish: async (id, claim, end) => (await change(id, claim, end)) && jobs.complete(id, claim),
    async drop(id, end) {
      const dropped = await rows.update(EDITS, { id, status: 'queued' }, EDITS.toRow(end))
      return dropped > 0 && jobs.dequeue(id)
    },
  }
}
