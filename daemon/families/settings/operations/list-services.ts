import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { appParams, exampleApp } from '../../apps/schema.ts'
import { findApp } from '../../apps/service.ts'
import { paging } from '../../cursor.ts'
import { pageQuery } from '../../wire.ts'
import { exampleService, servicePage, toWireService } from '../services/schema.ts'

export const listServices = operation({
  effect: 'read',
  id: 'settings.list_services',
  summary: 'List the services of an app by name, without secret values. Not used yet',
  method: 'GET',
  path: '/v1/apps/{app_id}/settings/services',
  access: { scope: 'settings:read', pinned: 'allowed' },
  emits: ['settings'],
  input: { params: appParams, query: z.strictObject(pageQuery) },
  output: servicePage,
  errors: ['app_not_found', 'invalid_cursor'],
  example: {
    params: { app_id: exampleApp.id },
    response: { data: [exampleService], has_more: false, next_cursor: null },
  },
  command: 'service list',
  async run({ platform, principal, params, query, abandoned }) {
    const { apps, services } = platform.store
    const { id: app_id, account_id } = await findApp(apps, principal, params.app_id)
    const pages = paging(query, { list: 'services', app_id })
    const { limit, after, bytes } = pages
    return platform.queues.largePages({ holder: account_id, signal: abandoned() }, async () => {
      const page = await services.list({ app_id, limit, after, bytes })
      return pages.answer(page, ({ name }) => name, toWireService)
    })
  },
})
