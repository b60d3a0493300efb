import { toHex } from '../../../../lib/internal/bytes.ts'
import type { DomainRecord } from '../../../../plugins/platform/contract/domains.ts'
import { operation } from '../../../operations/operation.ts'
import { creatorOf } from '../../../authority/principal.ts'
import { appParams, exampleApp } from '../../apps/schema.ts'
import { findLiveApp } from '../../apps/service.ts'
import { readHostname } from '../domains/hostname.ts'
import { awaitedSince } from '../domains/judge.ts'
import { requireAppsDomain } from '../domains/records.ts'
import {
  domainCreation,
  domainRecord,
  examplePendingDomain,
  toWireDomain,
} from '../domains/schema.ts'
import { settingsError } from '../errors.ts'
import { noteSetting } from '../service.ts'

/** Maximum domains of one app, in any status. */
const MAX_DOMAINS = 20

const TOKEN_BYTES = 20

export const createDomain = operation({
  effect: 'write',
  id: 'settings.create_domain',
  summary: 'Add a hostname of your own to an app; returns the DNS records to set',
  method: 'POST',
  path: '/v1/apps/{app_id}/settings/domains',
  access: { scope: 'settings:write', pinned: 'allowed' },
  agent: { toolset: 'settings' },
  emits: ['settings'],
  input: { params: appParams, body: domainCreation },
  output: domainRecord,
  status: 201,
  errors: [
    'app_not_found',
    'app_archived',
    'invalid_hostname',
    'reserved_hostname',
    'domain_in_use',
    'domain_limit_reached',
    'capability_unavailable',
  ],
  example: {
    params: { app_id: exampleApp.id },
    body: { hostname: 'shop.example.com' },
    response: examplePendingDomain,
  },
  command: 'domain create',
  async run(call) {
    const { platform, principal, tx, params, body, now } = call
    const { id: app_id, account_id } = await findLiveApp(tx.apps, principal, params.app_id)
    // Hosts of the service itself, and those of its apps.
    const own = [new URL(platform.baseUrl).hostname, platform.appsHosting?.domain ?? []].flat()
    const hostname = readHostname(body.hostname, own)
    requireAppsDomain(platform)
    if ((await tx.domains.count(app_id)) >= MAX_DOMAINS) throw settingsError('domain_limit_reached')

    const domain: DomainRecord = {
      ...awaitedSince(now),
      id: platform.newId(),
      app_id,
      account_id,
      hostname,
      token: toHex(platform.random(TOKEN_BYTES)),
      owned: false,
      routed: false,
      error: null,
      primary: false,
      created_by: creatorOf(principal),
      created_at: now,
      checked_at: null,
      verified_at: null,
    }
    if (!(await tx.domains.insert(domain))) throw settingsError('domain_in_use')
    await noteSetting(call, app_id, 'domain.created', domain.id)
    return toWireDomain(platform, domain)
  },
})
