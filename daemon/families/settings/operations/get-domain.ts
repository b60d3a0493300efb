import { operation } from '../../../operations/operation.ts'
import { findApp } from '../../apps/service.ts'
import { findDomain } from '../service.ts'
import { domainParams, domainRecord, exampleDomain, toWireDomain } from '../domains/schema.ts'

export const getDomain = operation({
  effect: 'read',
  id: 'settings.get_domain',
  summary: 'Read a domain and the state of its DNS records',
  method: 'GET',
  path: '/v1/apps/{app_id}/settings/domains/{domain_id}',
  access: { scope: 'settings:read', pinned: 'allowed' },
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
