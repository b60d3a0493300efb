import { z } from 'zod'
import type { Call } from '../../../operations/call.ts'
import { operation } from '../../../operations/operation.ts'
import { bytesOf, loadTree, keepMade } from '../../../trees/keep.ts'
import { findLiveApp, findRevision } from '../../apps/service.ts'
import { changesOf } from '../../../trees/apply.ts'
import { editError } from '../errors.ts'
import { repeatChanges } from '../../../trees/repeat.ts'
import { editParams, editRecord, exampleEdit, message, toWireEdit } from '../schema.ts'
import { findEdit } from '../service.ts'
import type { MadeTree } from '../structured.ts'
import { completeAtOnce, requireMade } from '../structured.ts'
import { applyInTurn } from '../../../trees/applying-queue.ts'

const input = {
  params: editParams,
  body: z.strictObject({ message: message.optional() }).optional(),
}

export const revertEdit = operation({
  effect: 'write',
  id: 'edits.revert',
  summary: 'Revert a completed edit, by another edit',
  method: 'POST',
  path: '/v1/apps/{app_id}/edits/{edit_id}/revert',
  access: { scope: 'edits:write', pinned: 'allowed' },
  agent: { toolset: 'edits', default: true, destructive: true },
  emits: ['edits'],
  input,
  output: editRecord,
  status: 201,
  errors: [
    'app_not_found',
    'app_archived',
    'app_not_ready',
    'edit_not_found',
    'edit_not_completed',
    'revert_conflict',
    'revision_conflict',
    'capability_unavailable',
  ],
  example: {
    params: { app_id: exampleEdit.app_id, edit_id: exampleEdit.id },
    body: { message: 'Back to how it was' },
    response: {
      ...exampleEdit,
      id: '01890a5d-ac96-774b-bcce-b302099a8060',
      edit_id: '01890a5d-ac96-774b-bcce-b302099a8060',
      message: 'Back to how it was',
      reverts: exampleEdit.id,
      base_revision: 2,
      result_revision: 3,
      changed_files: [{ path: 'headline.txt', change: 'removed' }],
    },
  },
  command: 'edit revert',
  async prepare(call) {
    // Refused before the wait; during it another edit may come first.
    await findRevert(call)
    return applyInTurn(call, call.params.app_id, (signal) => revertTree(call, signal))
  },
  async run(call) {
    const { params, body, prepared } = call
    const given = { message: body?.message ?? null, reverts: params.edit_id }
    return toWireEdit(await completeAtOnce(call, params.app_id, prepared, given), null)
  },
})

/** The app, its current revision, and the revision of the edit. */
async function findRevert(call: Call<typeof input>) {
  const { platform, principal, params } = call
  const app = await findLiveApp(platform.store.apps, principal, params.app_id)
  const edit = await findEdit(platform.store, call)
  const base = requireMade(app)
  const result = edit.result_revision
  if (result === null) throw editError('edit_not_completed')
  return { app, base, result }
}

/** The current tree without the changes of the edit. */
async function revertTree(call: Call<typeof input>, signal: AbortSignal): Promise<MadeTree> {
  const { platform } = call
  const { apps } = platform.store
  const { app, base, result } = await findRevert(call)
  const bytes = bytesOf(platform)
  const treeOf = async (number: number) => loadTree(bytes, await findRevision(apps, app, number))
  const onto = await treeOf(base)
  const from = await treeOf(result)
  const to = await treeOf(result - 1)
  const repeated = await repeatChanges({ from, to }, onto, signal)
  if (!('tree' in repeated)) throw editError('revert_conflict', { details: { ...repeated } })
  const kept = await keepMade(bytes, app.id, { tree: repeated.tree, fresh: [] })
  return { base, kept, changed: changesOf(onto, repeated.tree) }
}
