import { orAborted } from '../../../../lib/internal/until-aborted.ts'
import { MINUTE, SECOND } from '../../../../lib/time.ts'
import type { PlatformTx } from '../../../../plugins/platform/contract.ts'
import type { DomainRecord, DomainState } from '../../../../plugins/platform/contract/domains.ts'
import type { JobClaim } from '../../../../plugins/platform/contract/jobs.ts'
import type { Claimed, FamilyJobs, JobHandler } from '../../../jobs/handler.ts'
import type { Platform } from '../../../platform.ts'
import { judgeDomain } from './judge.ts'
import type { Findings } from './look.ts'
import { look } from './look.ts'
import { describeFault } from './faults.ts'
import { publicAppsDomain, wantedRecords } from './records.ts'
import { settingsEvents } from '../events.ts'

/** Far longer than a check takes; when its process dies, another checks after it. */
const LEASE = MINUTE
/** Checks are due at most once a minute. */
const EVERY = 15 * SECOND

/** The claim of a check that begins now. */
export function newClaim({ newId, clock }: Pick<Platform, 'newId' | 'clock'>): JobClaim {
  const now = clock.now()
  return { claim: newId(), now, lease_until: now + LEASE, deadline_at: null }
}

/**
 * Checks a claimed domain, then records the result and publishes its event in one unit of work. When the
 * claim is lost, nothing is changed or published.
 */
export async function checkDomain(
  platform: Platform,
  claimed: Claimed<DomainRecord>,
): Promise<void> {
  await record(platform, claimed, await lookFor(platform, claimed))
}

export function createDomainHandler(platform: Platform): JobHandler<DomainRecord> {
  return {
    kind: 'domain_check',
    async begin(tx, job) {
      const subject = await tx.domains.begin(job)
      return subject && { subject }
    },
    async run(leased, _, signal) {
      await record(platform, leased, await orAborted(lookFor(platform, leased), signal))
    },
    // Checks have no deadline, no maximum of attempts and no cancellation.
    end: () => Promise.reject(new Error('a check of a domain ends by its findings alone')),
    fail: (_, cause) => Promise.reject(cause as Error),
  }
}

/** Checks of domains, where hostnames can point to this service. */
export const domainChecks: FamilyJobs = {
  createHandler: createDomainHandler,
  times: { lease: LEASE, every: EVERY },
  isServed: (platform) => publicAppsDomain(platform) !== undefined,
}

function lookFor(
  platform: Platform,
  { subject: domain }: Claimed<DomainRecord>,
): Promise<Findings> {
  return look(platform.plugins.nameLookup, wantedRecords(platform, domain))
}

async function record(
  platform: Platform,
  { job: { claim }, subject: domain }: Claimed<DomainRecord>,
  findings: Findings,
): Promise<void> {
  await platform.store.write(async (tx) => {
    const now = platform.clock.now()
    let status = judgeDomain(domain, findings, now)
    let outcome = await tx.domains.settle(domain, claim, status)
    if (outcome === 'taken') {
      status = judgeDomain(domain, findings, now, true)
      outcome = await tx.domains.settle(domain, claim, status)
    }
    if (outcome === 'settled') await publishChange(platform, tx, domain, status)
  })
}

async function publishChange(
  { engine, clock }: Platform,
  tx: PlatformTx,
  { id, app_id, account_id, hostname, status: before }: DomainRecord,
  { status, error }: DomainState,
): Promise<void> {
  if (status === before || (status !== 'verified' && status !== 'failed')) return
  const data = {
    app_id,
    domain_id: id,
    hostname,
    ...(status === 'failed' ? { error: describeFault(error) } : {}),
  }
  const type = `domain.${status}` as const
  const event = settingsEvents.newEvent(engine, account_id, type, data, clock.now(), app_id)
  await engine.publishIn(tx, [event])
}
