import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { appParams, exampleApp } from '../../apps/schema.ts'
import { findApp } from '../../apps/service.ts'
import { paging } from '../../cursor.ts'
import { pageQuery } from '../../wire.ts'
import { domainPage, exampleDomain, toWireDomain } from '../domains/schema.ts'

export const listDomains = operation({
  effect: 'read',
  id: 'settings.list_domains',
  summary: 'List the domains of an app, newest first',
  method: 'GET',
  path: '/v1/apps/{app_id}/settings/domains',
  access: { scope: 'settings:read', pinned: 'allowed' },
  emits: ['settings'],
  input: { params: appParams, query: z.strictObject(pageQuery) },
  output: domainPage,
  errors: ['app_not_found', 'invalid_cursor'],
  example: {
    params: { app_id: exampleApp.id },
    response: { data: [exampleDomain], has_more: false, next_cursor: null },
  },
  command: 'domain list',
  async run({ platform, principal, params, query }) {
    const { apps, domains } = platform.store
    const { id: app_id } = await findApp(apps, principal, params.app_id)
    const pages = paging(query, { list: 'domains', app_id })
    const { limit, after } = pages
    const page = await domains.list({ app_id, limit, after })
    return pages.answer(
      page,
      ({ id }) => id,
      (domain) => toWireDomain(platform, domain),
    )
  },
})
