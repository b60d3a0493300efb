import { z } from 'zod'
import type { Instant, Millis } from '../../../../lib/time.ts'
import { SECOND } from '../../../../lib/time.ts'
import type { DomainRecord } from '../../../../plugins/platform/contract/domains.ts'
import { httpError } from '../../../operations/errors.ts'
import { operation } from '../../../operations/operation.ts'
import { findLiveApp } from '../../apps/service.ts'
import { checkDomain, newClaim } from '../domains/check.ts'
import { findDomain, noteSetting } from '../service.ts'
import { requireAppsDomain } from '../domains/records.ts'
import { domainParams, domainRecord, exampleDomain, toWireDomain } from '../domains/schema.ts'

/** Minimum interval between requested checks of a domain. */
const LOOK_GAP: Millis = 10 * SECOND

export const verifyDomain = operation({
  effect: 'own',
  id: 'settings.verify_domain',
  summary: 'Check the DNS records of a domain now; restarts the checks of a failed one',
  method: 'POST',
  path: '/v1/apps/{app_id}/settings/domains/{domain_id}/verify',
  access: { scope: 'settings:write', pinned: 'allowed' },
  agent: { toolset: 'settings' },
  emits: ['settings'],
  input: { params: domainParams, body: z.strictObject({}).optional() },
  output: domainRecord,
  errors: ['app_not_found', 'app_archived', 'domain_not_found', 'capability_unavailable'],
  example: {
    params: { app_id: exampleDomain.app_id, domain_id: exampleDomain.id },
    response: exampleDomain,
  },
  command: 'domain verify',
  async run(call) {
    const { platform, principal, params, unit } = call
    const { store } = platform
    const { id: app_id } = await findLiveApp(store.apps, principal, params.app_id)
    await findDomain(store.domains, app_id, params.domain_id)
    requireAppsDomain(platform)
    const lease = newClaim(platform)
    const since = lease.now - LOOK_GAP
    const domain = await unit(async (tx) => {
      await findLiveApp(tx.apps, principal, app_id)
      const known = await findDomain(tx.domains, app_id, params.domain_id)
      const claimed = await tx.domains.claimOne(app_id, known.id, { ...lease, since })
      if (claimed === undefined) throw tooSoon(known, lease.now)
      await noteSetting({ ...call, tx }, app_id, 'domain.checked', known.id)
      return claimed
    })
    // A result is not a change by the caller: it is stored even if the caller has left.
    await checkDomain(platform, { job: lease, subject: domain })
    return toWireDomain(platform, await findDomain(store.domains, app_id, domain.id))
  },
})

/** A check is in progress, or was just made. */
function tooSoon({ checked_at }: DomainRecord, now: Instant): Error {
  const left = (checked_at ?? 0) + LOOK_GAP - now
  const retry_after = Math.max(1, Math.ceil(left / SECOND))
  return httpError('rate_limited', { details: { retry_after } })
}
