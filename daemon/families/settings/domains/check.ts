import type { Instant } from '../../../../lib/time.ts'
import { MINUTE } from '../../../../lib/time.ts'
import type { PlatformTx } from '../../../../plugins/platform/contract.ts'
import type {
  DomainClaim,
  DomainRecord,
  DomainStanding,
  DomainsDue,
} from '../../../../plugins/platform/contract/domains.ts'
import type { Platform } from '../../../platform.ts'
import { furthestCheck, judgeDomain } from './judge.ts'
import type { Findings } from './look.ts'
import { look } from './look.ts'
import { describeProblem } from './problems.ts'
import { wantedRecords } from './records.ts'

export interface HeldDomain {
  readonly domain: DomainRecord
  readonly claim: string
}

/** Far longer than a look takes: should its process die, another looks then. */
const LEASE = MINUTE

/** What is to be looked at by now. */
export function dueBy(now: Instant): DomainsDue {
  return { now, furthest_check: furthestCheck(now), furthest_lease: now + 2 * LEASE }
}

/** A look that begins now. */
export function newClaim({ newId, clock }: Pick<Platform, 'newId' | 'clock'>): DomainClaim {
  const now = clock.now()
  return { claim: newId(), ...dueBy(now), lease_until: now + LEASE }
}

/**
 * Looks at a claimed domain, then records what that leads to and tells of it, both or neither: whose
 * claim is lost changes and tells nothing.
 */
export async function checkDomain(platform: Platform, held: HeldDomain): Promise<void> {
  await record(platform, held, await lookFor(platform, held))
}

/**
 * Looks at the domain that has been due longest; false when none is due.
 *
 * @param stopping ends the look: nothing is recorded, and another looks when the lease has ended
 */
export async function checkNext(platform: Platform, stopping: AbortSignal): Promise<boolean> {
  const { store } = platform
  const asked = newClaim(platform)
  const domain = await store.write((tx) => tx.domains.claimDue(asked))
  if (domain === undefined) return false
  const held = { domain, claim: asked.claim }
  const findings = await untilStopped(lookFor(platform, held), stopping)
  if (findings !== undefined) await record(platform, held, findings)
  return true
}

function lookFor(platform: Platform, { domain }: HeldDomain): Promise<Findings> {
  return look(platform.plugins.nameLookup, wantedRecords(platform, domain))
}

async function record(
  platform: Platform,
  { domain, claim }: HeldDomain,
  findings: Findings,
): Promise<void> {
  await platform.store.write(async (tx) => {
    const now = platform.clock.now()
    let standing = judgeDomain(domain, findings, now)
    let outcome = await tx.domains.settle(domain, claim, standing)
    if (outcome === 'taken') {
      standing = judgeDomain(domain, findings, now, true)
      outcome = await tx.domains.settle(domain, claim, standing)
    }
    if (outcome === 'settled') await tell(platform, tx, domain, standing)
  })
}

/** Undefined, without waiting for it, once the signal aborts. */
function untilStopped<T>(work: Promise<T>, stopping: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve(undefined)
    if (stopping.aborted) stop()
    stopping.addEventListener('abort', stop, { once: true })
    const ended = (): void => stopping.removeEventListener('abort', stop)
    work.then(resolve, reject).finally(ended)
  })
}

async function tell(
  { engine, clock }: Platform,
  tx: PlatformTx,
  { id, app_id, account_id, hostname, status: before }: DomainRecord,
  { status, error }: DomainStanding,
): Promise<void> {
  if (status === before || (status !== 'verified' && status !== 'failed')) return
  const data = {
    app_id,
    domain_id: id,
    hostname,
    ...(status === 'failed' ? { error: describeProblem(error) } : {}),
  }
  const event = engine.newEvent(account_id, `domain.${status}`, data, clock.now(), app_id)
  await engine.publishIn(tx, [event])
}
