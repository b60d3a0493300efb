import { operation } from '../../../operations/operation.ts'
import { editParams, editRecord, exampleEdit, toWireEdit } from '../schema.ts'
import { findEdit, positionOf } from '../service.ts'

export const getEdit = operation({
  effect: 'read',
  id: 'edits.get',
  summary: 'Read an edit',
  method: 'GET',
  path: '/v1/apps/{app_id}/edits/{edit_id}',
  access: { scope: 'edits:read', pinned: 'allowed' },
  agent: { toolset: 'edits', default: true, resource: true },
  emits: ['edits'],
  input: { params: editParams },
  output: editRecord,
  errors: ['app_not_found', 'edit_not_found'],
  example: {
    params: { app_id: exampleEdit.app_id, edit_id: exampleEdit.id },
    response: exampleEdit,
  },
  command: 'edit get',
  async run(call) {
    const { store } = call.platform
    const edit = await findEdit(store, call)
    return toWireEdit(edit, await positionOf(store.edits, edit))
  },
})
