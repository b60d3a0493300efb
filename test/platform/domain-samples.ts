import type { DomainRecord, DomainState } from '../../plugins/platform/contract/domains.ts'
import type { JobClaim } from '../../plugins/platform/contract/jobs.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import type { AppRecord } from '../../plugins/platform/contract/apps.ts'
import { ACCOUNT, BORN } from '../../plugins/store/conformance/samples.ts'
import { sampleClaim } from './job-samples.ts'
import { sampleApp } from './app-samples.ts'

/** A domain that waits, due a minute from when it was made. */
export function sampleDomain(id: string, changes: Partial<DomainRecord> = {}): DomainRecord {
  return {
    id,
    app_id: 'app_1',
    account_id: ACCOUNT,
    hostname: `${id.replace('_', '-')}.example.com`,
    token: 'ab'.repeat(20),
    status: 'pending',
    owned: false,
    routed: false,
    error: null,
    primary: false,
    failures: 0,
    created_by: { type: 'key', id: 'key_1' },
    created_at: BORN,
    waiting_since: BORN,
    checked_at: null,
    verified_at: null,
    next_check_at: BORN + 60_000,
    ...changes,
  }
}

/** As a look leaves a domain at which everything was found. */
export const VERIFIED: DomainState = {
  status: 'verified',
  owned: true,
  routed: true,
  error: null,
  failures: 0,
  waiting_since: BORN,
  checked_at: BORN + 70_000,
  verified_at: BORN + 70_000,
  next_check_at: BORN + 86_400_000,
}

/** As the last of the looks leaves one at which nothing was found. */
export const GIVEN_UP: DomainState = {
  status: 'failed',
  owned: false,
  routed: true,
  error: 'challenge_missing',
  failures: 3,
  waiting_since: BORN,
  checked_at: BORN + 80_000,
  verified_at: BORN + 70_000,
  next_check_at: null,
}

/** Leased for a minute. */
export function sampleDomainClaim(claim: string, now: number): JobClaim {
  return { ...sampleClaim(claim, now), deadline_at: null }
}

/** Begins the check of the domain that is due. */
export function claimDomain(
  store: PlatformStore,
  claim: string,
  now: number,
): Promise<DomainRecord | undefined> {
  return store.write(async (tx) => {
    const job = await tx.jobs.claim('domain_check', sampleDomainClaim(claim, now))
    return job && tx.domains.begin(job)
  })
}

/** Answers which of them were inserted. */
export function insertDomains(
  store: PlatformStore,
  ...domains: readonly DomainRecord[]
): Promise<readonly boolean[]> {
  return store.write(async (tx) => {
    const inserted: boolean[] = []
    for (const domain of domains) inserted.push(await tx.domains.insert(domain))
    return inserted
  })
}

/** Makes an app in the state that is said. */
export function insertApp(
  store: PlatformStore,
  id: string,
  changes: Partial<AppRecord> = {},
): Promise<void> {
  return store.write((tx) => tx.apps.insert(sampleApp(id, changes)))
}
