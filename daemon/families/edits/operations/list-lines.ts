import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { listJobLines } from '../../cursor.ts'
import { pageQuery } from '../../wire.ts'
import { editParams, exampleEdit, linePage, toWireLine } from '../schema.ts'
import { findEdit } from '../service.ts'

export const listEditLines = operation({
  effect: 'read',
  id: 'edits.logs',
  summary: 'List the log lines of an edit, oldest first',
  method: 'GET',
  path: '/v1/apps/{app_id}/edits/{edit_id}/logs',
  access: { scope: 'edits:read', pinned: 'allowed' },
  agent: { toolset: 'edits', resource: true },
  emits: ['edits'],
  input: { params: editParams, query: z.strictObject(pageQuery) },
  output: linePage,
  errors: ['app_not_found', 'edit_not_found', 'invalid_cursor'],
  example: {
    params: { app_id: exampleEdit.app_id, edit_id: exampleEdit.id },
    response: {
      data: [
        {
          number: 1,
          at: exampleEdit.created_at,
          stage: 'asking',
          message: 'Asking the language model.',
        },
      ],
      has_more: false,
      next_cursor: null,
    },
  },
  command: 'edit logs',
  async run(call) {
    const edit = await findEdit(call.platform.store, call)
    return listJobLines(call, { list: 'edit-lines', edit: edit.id }, edit.id, toWireLine)
  },
})
