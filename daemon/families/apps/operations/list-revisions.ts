import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { paging } from '../../cursor.ts'
import { pageQuery } from '../../wire.ts'
import { appParams, exampleRevision, revisionPage, toWireRevision } from '../schema.ts'
import { findApp } from '../service.ts'

export const listRevisions = operation({
  effect: 'read',
  id: 'apps.revisions',
  summary: 'List the revisions of an app, newest first',
  method: 'GET',
  path: '/v1/apps/{app_id}/revisions',
  access: { scope: 'apps:read', pinned: 'allowed' },
  agent: { toolset: 'apps', resource: true },
  emits: [
    'apps',
    { family: 'edits', because: 'A revision has the message of the edit that made it.' },
  ],
  input: { params: appParams, query: z.strictObject(pageQuery) },
  output: revisionPage,
  errors: ['app_not_found', 'invalid_cursor'],
  example: {
    params: { app_id: exampleRevision.app_id },
    response: { data: [exampleRevision], has_more: false, next_cursor: null },
  },
  command: 'app revisions',
  async run({ platform, principal, params, query }) {
    const { apps } = platform.store
    const app = await findApp(apps, principal, params.app_id)
    const pages = paging(query, { list: 'revisions', app: app.id })
    const { limit } = pages
    const page = await apps.revisions({ app_id: app.id, limit, before: pages.afterNumber() })
    return pages.answer(page, ({ number }) => String(number), toWireRevision)
  },
})
