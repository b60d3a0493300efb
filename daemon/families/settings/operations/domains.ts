import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { appParams, exampleApp } from '../../apps/schema.ts'
import { findApp, findLiveApp } from '../../apps/service.ts'
import { paging } from '../../cursor.ts'
import { pageQuery } from '../../wire.ts'
import {
  domainPage,
  exampleDomain,
  toWireDomain,
  domainParams,
  domainRecord,
  domainChanges,
} from '../domains/schema.ts'
import { findDomain, noteSetting } from '../service.ts'
import { settingsError } from '../errors.ts'

export const listDomains = operation({
  effect: 'read',
  id: 'settings.list_domains',
  summary: 'List the domains of an app, newest first',
  method: 'GET',
  path: '/v1/apps/{app_id}/settings/domains',
  access: { scope: 'settings:read', pinned: 'allowed' },
  agent: { toolset: 'settings' },
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

export const getDomain = operation({
  effect: 'read',
  id: 'settings.get_domain',
  summary: 'Read a domain and the state of its DNS records',
  method: 'GET',
  path: '/v1/apps/{app_id}/settings/domains/{domain_id}',
  access: { scope: 'settings:read', pinned: 'allowed' },
  agent: { toolset: 'settings' },
  emits: ['settings'],
  input: { params: domainParams },
  output: domainRecord,
  errors: ['app_not_found', 'domain_not_found'],
  example: {
    params: { app_id: exampleDomain.app_id, domain_id: exampleDomain.id },
    response: exampleDomain,
  },
  command: 'domain get',
  async run({ platform, principal, params }) {
    const { apps, domains } = platform.store
    const app = await findApp(apps, principal, params.app_id)
    return toWireDomain(platform, await findDomain(domains, app.id, params.domain_id))
  },
})

export const updateDomain = operation({
  effect: 'write',
  id: 'settings.update_domain',
  summary: 'Set or unset a verified domain as the primary one of its app',
  method: 'PATCH',
  path: '/v1/apps/{app_id}/settings/domains/{domain_id}',
  access: { scope: 'settings:write', pinned: 'allowed' },
  agent: { toolset: 'settings' },
  emits: ['settings'],
  input: { params: domainParams, body: domainChanges },
  output: domainRecord,
  errors: ['app_not_found', 'app_archived', 'domain_not_found', 'domain_not_verified'],
  example: {
    params: { app_id: exampleDomain.app_id, domain_id: exampleDomain.id },
    body: { primary: true },
    response: exampleDomain,
  },
  command: 'domain update',
  async run(call) {
    const { platform, principal, tx, params, body } = call
    const app = await findLiveApp(tx.apps, principal, params.app_id)
    const { id } = await findDomain(tx.domains, app.id, params.domain_id)
    if (!(await tx.domains.setPrimary(app.id, id, body.primary))) {
      throw settingsError('domain_not_verified')
    }
    await noteSetting(call, app.id, 'domain.updated', id)
    return toWireDomain(platform, await findDomain(tx.domains, app.id, id))
  },
})

export const deleteDomain = operation({
  effect: 'write',
  id: 'settings.delete_domain',
  summary: 'Delete a domain; it no longer serves the app, and another app may use it',
  method: 'DELETE',
  path: '/v1/apps/{app_id}/settings/domains/{domain_id}',
  access: { scope: 'settings:write', pinned: 'allowed' },
  agent: { toolset: 'settings' },
  emits: ['settings'],
  input: { params: domainParams },
  output: domainRecord,
  errors: ['app_not_found', 'domain_not_found'],
  example: {
    params: { app_id: exampleDomain.app_id, domain_id: exampleDomain.id },
    response: exampleDomain,
  },
  command: 'domain delete',
  /** Also for an archived app: another app may need the hostname. */
  async run(call) {
    const { platform, principal, tx, params } = call
    const app = await findApp(tx.apps, principal, params.app_id)
    const domain = await findDomain(tx.domains, app.id, params.domain_id)
    await tx.domains.remove(app.id, domain.id)
    await noteSetting(call, app.id, 'domain.deleted', domain.id)
    return toWireDomain(platform, domain)
  },
})
