import type { Instant } from '../../../lib/time.ts'
import type { EditReads, EditRecord, EditWrites } from '../contract/edits.ts'
import { MOST_LOOKED_AT } from '../contract/page.ts'
import type { Reading, State } from './state.ts'
import { add, change, endPage, isLeased, searchPage } from './state.ts'

/** Of what is not under way. */
const NO_PLACE = { stage: null, done: 0, total: null }

export function editReads(state: Reading): EditReads {
  return {
    get: async (appId, id) => {
      const edit = state().edits.get(id)
      return edit?.app_id === appId ? edit : undefined
    },
    list: async ({ app_id, status, kind, initial, bytes, ...query }, most = MOST_LOOKED_AT) => {
      const page = searchPage(
        [...state().edits.values()].filter((edit) => edit.app_id === app_id),
        query,
        (edit) =>
          (status === null || edit.status === status) &&
          (kind === null || edit.kind === kind) &&
          (initial === null || edit.initial === initial),
        most,
      )
      return endPage(page, bytes, sizeOf)
    },
    waiting: async (appId) => waiting(state()).filter(({ app_id }) => app_id === appId),
    lines: async (id, after, limit) =>
      (state().editLines.get(id) ?? []).filter(({ number }) => number > after).slice(0, limit),
    isClaimable: async (now) => next(state(), now) !== undefined,
  }
}

function sizeOf({ prompt, summary, changed }: EditRecord): number {
  return Buffer.byteLength((prompt ?? '') + (summary ?? '') + JSON.stringify(changed))
}

/** Queued and running ones of all apps, the oldest first. */
function waiting({ edits }: State): readonly EditRecord[] {
  return [...edits.values()]
    .filter(({ status }) => status === 'queued' || status === 'running')
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

function next(state: State, now: Instant): EditRecord | undefined {
  const all = waiting(state)
  const running = all.filter(({ status }) => status === 'running')
  const busy = new Set(running.map(({ app_id }) => app_id))
  const load = ({ account_id }: EditRecord): number =>
    running.filter((one) => one.account_id === account_id).length
  const [first] = all
    .filter(({ id, app_id, status }) =>
      status === 'running' ? !isLeased(state.editLeases, id, now) : !busy.has(app_id),
    )
    .sort((a, b) => load(a) - load(b))
  return first
}

export function editWrites(state: State): EditWrites {
  const { edits, editLeases, editLines } = state
  const stands = (id: string, status: EditRecord['status']): boolean =>
    edits.get(id)?.status === status
  const isHeld = (id: string, claim: string): boolean =>
    stands(id, 'running') && editLeases.get(id)?.claim === claim

  return {
    ...editReads(() => state),
    insert: async (edit) => add(edits, edit.id, edit),
    async claim({ claim, now, lease_until, deadline_at }) {
      const found = next(state, now)
      if (found === undefined) return undefined
      editLeases.set(found.id, { claim, until: lease_until })
      change(edits, found.id, {
        ...NO_PLACE,
        status: 'running',
        attempts: found.attempts + 1,
        started_at: found.started_at ?? now,
        deadline_at: found.deadline_at ?? deadline_at,
      })
      return edits.get(found.id)
    },
    async beat(id, claim, { lease_until, stage, done, total }) {
      if (!isHeld(id, claim)) return 'lost'
      editLeases.set(id, { claim, until: lease_until })
      change(edits, id, { stage, done, total })
      return edits.get(id)?.cancel_at === null ? 'held' : 'cancel'
    },
    async release(id, claim, now) {
      if (!isHeld(id, claim)) return false
      editLeases.set(id, { claim, until: now })
      return change(edits, id, { ...NO_PLACE, attempts: (edits.get(id)?.attempts ?? 1) - 1 })
    },
    found: async (id, claim, { base_revision, model, knowledge }) =>
      isHeld(id, claim) &&
      change(edits, id, {
        ...(base_revision !== undefined && { base_revision }),
        ...(model !== undefined && { model }),
        ...(knowledge !== undefined && { knowledge }),
      }),
    finish: async (id, claim, end) =>
      isHeld(id, claim) && editLeases.delete(id) && change(edits, id, { ...NO_PLACE, ...end }),
    drop: async (id, end) => stands(id, 'queued') && change(edits, id, { ...NO_PLACE, ...end }),
    cancel: async (id, now) =>
      stands(id, 'running') && change(edits, id, { cancel_at: edits.get(id)?.cancel_at ?? now }),
    async log(id, lines) {
      if (!edits.has(id)) return
      const kept = editLines.get(id) ?? []
      const added = lines.map((line, index) => ({ number: kept.length + index + 1, ...line }))
      editLines.set(id, [...kept, ...added])
    },
  }
}

/** Deletes every edit of an app. */
export function purgeEdits({ edits, editLeases, editLines }: State, appId: string): void {
  for (const [id, { app_id }] of edits) {
    if (app_id !== appId) continue
    edits.delete(id)
    editLeases.delete(id)
    editLines.delete(id)
  }
}
