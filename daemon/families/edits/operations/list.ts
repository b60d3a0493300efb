import { z } from 'zod'
import { EDIT_STATUSES } from '../../../../plugins/platform/contract/edits.ts'
import { operation } from '../../../operations/operation.ts'
import { queryFlag } from '../../../operations/query-values.ts'
import { appParams } from '../../apps/schema.ts'
import { findApp } from '../../apps/service.ts'
import { idOf, listPage } from '../../cursor.ts'
import { filteredPageQuery } from '../../wire.ts'
import { editPage, exampleEdit, toWireEdit } from '../schema.ts'
import { positionsOf } from '../service.ts'

const query = z.strictObject({
  ...filteredPageQuery('edits'),
  status: z.enum(EDIT_STATUSES).optional(),
  kind: z.enum(['prompt', 'structured']).optional(),
  initial: queryFlag.optional().meta({
    description: 'Filter: true for the edit that generates the app, false for the others.',
  }),
})

export const listEdits = operation({
  effect: 'read',
  id: 'edits.list',
  summary: 'List the edits of an app, newest first',
  method: 'GET',
  path: '/v1/apps/{app_id}/edits',
  access: { scope: 'edits:read', pinned: 'allowed' },
  agent: { toolset: 'edits', default: true },
  emits: ['edits'],
  input: { params: appParams, query },
  output: editPage,
  errors: ['app_not_found', 'invalid_cursor'],
  example: {
    params: { app_id: exampleEdit.app_id },
    response: { data: [exampleEdit], has_more: false, next_cursor: null },
  },
  command: 'edit list',
  async run(call) {
    const { platform, principal, params, query } = call
    const { apps, edits } = platform.store
    const app = await findApp(apps, principal, params.app_id)
    const filters = {
      app_id: app.id,
      status: query.status ?? null,
      kind: query.kind ?? null,
      initial: query.initial === undefined ? null : query.initial === 'true',
    }
    return listPage(call, {
      list: { list: 'edits', ...filters },
      read: (range) => edits.list({ ...filters, ...range }),
      cursorOf: idOf,
      async show(rows) {
        const waits = rows.some(({ status }) => status === 'queued')
        const positions = waits ? await positionsOf(edits, app.id) : undefined
        return (edit) => toWireEdit(edit, positions?.get(edit.id) ?? null)
      },
    })
  },
})
