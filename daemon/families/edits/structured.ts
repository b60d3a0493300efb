import type { AppRecord } from '../../../plugins/platform/contract/apps.ts'
import type { EditedFile, EditRecord } from '../../../plugins/platform/contract/edits.ts'
import type { Change } from '../audit/note.ts'
import { appError } from '../apps/errors.ts'
import { findLiveApp } from '../apps/service.ts'
import type { Ended } from './end.ts'
import { publishEnd } from './end.ts'
import { editError } from './errors.ts'
import { newEdit } from './queue.ts'
import type { KeptTree } from '../../trees/keep.ts'
import { noteEdit, requireCurrent } from './service.ts'

/** Result of a structured edit, still to be committed. */
export interface MadeTree {
  readonly base: number
  readonly kept: KeptTree
  readonly changed: readonly EditedFile[]
}

/** @throws KeyhookError `app_not_ready` while the app is being created or has no revision */
export function requireMade({ status, revision }: AppRecord): number {
  if (status === 'creating' || revision === null) throw appError('app_not_ready')
  return revision
}

/** Creates the revision and its edit, which is completed at once. */
export async function completeAtOnce(
  call: Change,
  appId: string,
  { base, kept, changed }: MadeTree,
  given: Pick<EditRecord, 'message' | 'reverts'>,
): Promise<EditRecord> {
  const { platform, tx, principal, now } = call
  const app = await findLiveApp(tx.apps, principal, appId)
  requireMade(app)
  requireCurrent(app, base)

  const id = platform.newId()
  const result = base + 1
  const end: Ended = {
    status: 'completed',
    finished_at: now,
    result_revision: result,
    summary: null,
    changed,
    usage: null,
    error: null,
  }
  const edit = newEdit(call, app, {
    ...given,
    ...end,
    id,
    kind: 'structured',
    base_revision: base,
    started_at: now,
  })
  const { created_by, message } = edit
  const revision = { app_id: app.id, number: result, ...kept, message, edit_id: id, created_by }
  if (!(await tx.apps.advance({ ...revision, created_at: now }, base))) {
    throw editError('revision_conflict')
  }
  await tx.edits.insert(edit)
  await publishEnd(platform, tx, edit, end)
  await noteEdit(call, edit, 'edit.created')
  return edit
}
