import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { wait } from '../../wire.ts'
import { editParams, editState, exampleEdit, toWireState } from '../schema.ts'
import { findEdit, positionOf, waitForEnd } from '../service.ts'

export const getEditStatus = operation({
  effect: 'read',
  id: 'edits.status',
  summary: 'Read the progress of an edit, or wait for its end',
  method: 'GET',
  path: '/v1/apps/{app_id}/edits/{edit_id}/status',
  access: { scope: 'edits:read', pinned: 'allowed' },
  agent: { toolset: 'edits' },
  emits: ['edits'],
  input: { params: editParams, query: z.strictObject({ wait }) },
  output: editState,
  errors: ['app_not_found', 'edit_not_found'],
  example: {
    params: { app_id: exampleEdit.app_id, edit_id: exampleEdit.id },
    response: {
      id: exampleEdit.id,
      edit_id: exampleEdit.id,
      app_id: exampleEdit.app_id,
      status: 'running',
      stage: 'asking',
      progress: { done: 2, total: null },
      queue_position: null,
      result_revision: null,
      error: null,
    },
  },
  command: 'edit status',
  async run(call) {
    const { query } = call
    const { store } = call.platform
    const known = await waitForEnd(call, await findEdit(store, call), query.wait ?? 0)
    return toWireState(known, await positionOf(store.edits, known))
  },
})
