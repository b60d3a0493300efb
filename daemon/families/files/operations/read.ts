import { z } from 'zod'
import { FILE_STATUSES } from '../../../../plugins/platform/contract/files.ts'
import { operation } from '../../../operations/operation.ts'
import { appParams, exampleApp } from '../../apps/schema.ts'
import { findApp } from '../../apps/service.ts'
import { paging } from '../../cursor.ts'
import { pageQuery, plainText } from '../../wire.ts'
import { exampleFile, filePage, toWireFile, fileParams, fileRecord } from '../schema.ts'
import { findFile } from '../service.ts'

export const listFiles = operation({
  effect: 'read',
  id: 'files.list',
  summary: 'List the knowledge files of an app, newest first',
  method: 'GET',
  path: '/v1/apps/{app_id}/files',
  access: { scope: 'files:read', pinned: 'allowed' },
  agent: { toolset: 'files', default: true },
  emits: ['files'],
  input: {
    params: appParams,
    query: z.strictObject({
      ...pageQuery,
      status: z.enum(FILE_STATUSES).optional().meta({ description: 'Filter. Default: all.' }),
      content_type: plainText.optional().meta({ description: 'Filter. Default: all.' }),
    }),
  },
  output: filePage,
  errors: ['app_not_found', 'invalid_cursor'],
  example: {
    params: { app_id: exampleApp.id },
    response: { data: [exampleFile], has_more: false, next_cursor: null },
  },
  command: 'file list',
  async run({ platform, principal, params, query }) {
    const { apps, files } = platform.store
    const { id: app_id } = await findApp(apps, principal, params.app_id)
    const filters = { status: query.status ?? null, content_type: query.content_type ?? null }
    const pages = paging(query, { list: 'files', app_id, ...filters })
    const { limit, after } = pages
    const page = await files.list({ app_id, ...filters, limit, after })
    return pages.answer(page, ({ id }) => id, toWireFile)
  },
})

export const getFile = operation({
  effect: 'read',
  id: 'files.get',
  summary: 'Read a knowledge file and the progress of its processing',
  method: 'GET',
  path: '/v1/apps/{app_id}/files/{file_id}',
  access: { scope: 'files:read', pinned: 'allowed' },
  agent: { toolset: 'files' },
  emits: ['files'],
  input: { params: fileParams },
  output: fileRecord,
  errors: ['app_not_found', 'file_not_found'],
  example: {
    params: { app_id: exampleFile.app_id, file_id: exampleFile.id },
    response: exampleFile,
  },
  command: 'file get',
  async run({ platform, principal, params }) {
    const { apps, files } = platform.store
    const app = await findApp(apps, principal, params.app_id)
    return toWireFile(await findFile(files, app.id, params.file_id))
  },
})
