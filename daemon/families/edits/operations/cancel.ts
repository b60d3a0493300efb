import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { endQueued, endWithout } from '../end.ts'
import { editError } from '../errors.ts'
import { FAILURES } from '../failures.ts'
import {
  editParams,
  editRecord,
  exampleEdit,
  examplePrompt,
  pathOfEdit,
  toWireEdit,
} from '../schema.ts'
import { findEdit, hasEnded, noteEdit, positionOf } from '../service.ts'

const canceled = {
  ...examplePrompt,
  status: 'canceled',
  error: FAILURES.canceled,
  queue_position: null,
  finished_at: examplePrompt.created_at,
} as const

export const cancelEdit = operation({
  effect: 'write',
  id: 'edits.cancel',
  summary: 'Cancel an edit: at once if queued, at the next step if running',
  method: 'POST',
  path: '/v1/apps/{app_id}/edits/{edit_id}/cancel',
  access: { scope: 'edits:write', pinned: 'allowed' },
  agent: { toolset: 'edits', default: true, destructive: true },
  emits: ['edits'],
  input: { params: editParams, body: z.strictObject({}).optional() },
  output: editRecord,
  accepted: (edit) => !hasEnded(edit),
  watch: pathOfEdit,
  errors: ['app_not_found', 'edit_not_found', 'edit_finished'],
  example: {
    params: { app_id: exampleEdit.app_id, edit_id: exampleEdit.id },
    response: canceled,
    accepted: { ...examplePrompt, status: 'running', queue_position: null },
  },
  command: 'edit cancel',
  async run(call) {
    const { platform, tx, now } = call
    const edit = await findEdit(tx, call)
    const end = endWithout('canceled', FAILURES.canceled, now)
    const isEnded = await endQueued(platform, tx, edit, end)
    if (!isEnded && !(await tx.jobs.cancel(edit.id, now))) throw editError('edit_finished')
    await noteEdit(call, edit, 'edit.canceled')
    tx.afterCommit(() => {
      platform.workAvailable.jobs('edit')
    })
    const known = await findEdit(tx, call)
    return toWireEdit(known, await positionOf(tx.edits, known))
  },
})
