import type { Instant, Millis } from '../../../../lib/time.ts'
import { DAY, HOUR, MINUTE } from '../../../../lib/time.ts'
import type { DomainRecord, DomainState } from '../../../../plugins/platform/contract/domains.ts'
import { JOB_KINDS } from '../../../../plugins/platform/contract/jobs.ts'
import type { Finding, Findings } from './look.ts'
import type { DomainFault } from './faults.ts'
import { faultOf } from './faults.ts'

/** From one look at a domain that waits to the next; the last goes on until it is given up. */
const CHECK_INTERVALS: readonly [Millis, ...Millis[]] = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR]
const GIVEN_UP_AFTER: Millis = 7 * DAY
/** From one look at a verified domain to the next. */
const VERIFIED_EVERY: Millis = DAY
/** Of a verified domain whose name servers gave no answer. */
const UNKNOWN_AGAIN: Millis = HOUR
/** Daily looks in a row that must find it wrong: records are moved now and then. */
const MOST_FAILURES = 3

/** How a domain begins, and begins anew that had been given up. */
export function awaitedSince(
  now: Instant,
): Pick<DomainState, 'status' | 'failures' | 'waiting_since' | 'next_check_at'> {
  return {
    status: 'pending',
    failures: 0,
    waiting_since: now,
    next_check_at: now + CHECK_INTERVALS[0],
  }
}

/**
 * What a look leads to. One that was asked for in between moves a domain on when everything is found;
 * else it shows what is missing, and the looks that are scheduled go on as they were.
 *
 * @param inUse another has verified the hostname: everything may be found, and it waits all the same
 */
export function judgeDomain(
  domain: DomainRecord,
  findings: Findings,
  now: Instant,
  inUse = false,
): DomainState {
  const fault = inUse ? 'domain_in_use' : faultOf(findings)
  if (fault === undefined) return verify(domain, now)
  const isDue = isDueBy(domain, now)
  const seen: FaultyStatus = {
    ...statusOf(domain),
    // It has not waited at all if a clock that was ahead says when that began.
    waiting_since: Math.min(domain.waiting_since, now),
    owned: knownOf(findings.challenge, domain.owned),
    routed: knownOf(findings.route, domain.routed),
    error: fault,
    checked_at: now,
  }
  if (domain.status === 'verified') return countFailure(seen, fault, isDue, now)
  return wait(domain.status === 'failed' ? { ...seen, ...awaitedSince(now) } : seen, isDue, now)
}

function isDueBy({ next_check_at: at }: DomainRecord, now: Instant): boolean {
  return at !== null && (at <= now || at > now + JOB_KINDS.domain_check.furthest)
}

type FaultyStatus = DomainState & { readonly error: DomainFault }

function verify(domain: DomainRecord, now: Instant): DomainState {
  return {
    ...statusOf(domain),
    status: 'verified',
    owned: true,
    routed: true,
    error: null,
    failures: 0,
    checked_at: now,
    verified_at: domain.status === 'verified' ? domain.verified_at : now,
    next_check_at: now + VERIFIED_EVERY,
  }
}

/** A verified one serves on until it was found wrong often enough: no answer tells nothing. */
function countFailure(
  seen: FaultyStatus,
  fault: DomainFault,
  isDue: boolean,
  now: Instant,
): DomainState {
  if (!isDue) return seen
  if (fault === 'no_answer') return { ...seen, next_check_at: now + UNKNOWN_AGAIN }
  const failures = seen.failures + 1
  return failures < MOST_FAILURES
    ? { ...seen, failures, next_check_at: now + VERIFIED_EVERY }
    : { ...seen, failures, status: 'failed', next_check_at: null }
}

function wait(seen: FaultyStatus, isDue: boolean, now: Instant): DomainState {
  const status = seen.owned || seen.routed ? 'verifying' : 'pending'
  if (!isDue) return { ...seen, status }
  const failures = seen.failures + 1
  if (now - seen.waiting_since >= GIVEN_UP_AFTER) {
    return { ...seen, failures, status: 'failed', next_check_at: null }
  }
  const next = CHECK_INTERVALS[Math.min(failures, CHECK_INTERVALS.length - 1)] ?? HOUR
  return { ...seen, status, failures, next_check_at: now + next }
}

function knownOf(finding: Finding, before: boolean): boolean {
  return finding === 'no_answer' ? before : finding === 'found'
}

function statusOf(domain: DomainRecord): DomainState {
  const { status, owned, routed, error, failures } = domain
  const { waiting_since, checked_at, verified_at, next_check_at } = domain
  const found = { status, owned, routed, error, failures }
  return { ...found, waiting_since, checked_at, verified_at, next_check_at }
}
