import { operation } from '../../../operations/operation.ts'
import { findLiveApp } from '../../apps/service.ts'
import { findDomain, noteSetting } from '../service.ts'
import {
  domainChanges,
  domainParams,
  domainRecord,
  exampleDomain,
  toWireDomain,
} from '../domains/schema.ts'
import { settingsError } from '../errors.ts'

export const updateDomain = operation({
  effect: 'write',
  id: 'settings.update_domain',
  summary: 'Set or unset a verified domain as the primary one of its app',
  method: 'PATCH',
  path: '/v1/apps/{app_id}/settings/domains/{domain_id}',
  access: { scope: 'settings:write', pinned: 'allowed' },
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
