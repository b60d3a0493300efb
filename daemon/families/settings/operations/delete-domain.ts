import { operation } from '../../../operations/operation.ts'
import { findApp } from '../../apps/service.ts'
import { findDomain, noteSetting } from '../service.ts'
import { domainParams, domainRecord, exampleDomain, toWireDomain } from '../domains/schema.ts'

export const deleteDomain = operation({
  effect: 'write',
  id: 'settings.delete_domain',
  summary: 'Delete a domain; it no longer serves the app, and another app may use it',
  method: 'DELETE',
  path: '/v1/apps/{app_id}/settings/domains/{domain_id}',
  access: { scope: 'settings:write', pinned: 'allowed' },
  emits: ['settings'],
  input: { params: domainParams },
  output: domainRecord,
  errors: ['app_not_found', 'domain_not_found'],
  example: {
    params: { app_id: exampleDomain.app_id, domain_id: exampleDomain.id },
    response: exampleDomain,
  },
  command: 'domain delete',
  /** An archived app gives its hostnames up too: another app is to have them, perhaps. */
  async run(call) {
    const { platform, principal, tx, params } = call
    const app = await findApp(tx.apps, principal, params.app_id)
    const domain = await findDomain(tx.domains, app.id, params.domain_id)
    await tx.domains.remove(app.id, domain.id)
    await noteSetting(call, app.id, 'domain.deleted', domain.id)
    return toWireDomain(platform, domain)
  },
})
