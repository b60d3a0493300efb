import type { Instant, Millis } from '../../../../lib/time.ts'
import { DAY, HOUR, MINUTE } from '../../../../lib/time.ts'
import type { DomainRecord, DomainState } from '../../../../plugins/platform/contract/domains.ts'
import { JOB_KINDS } from '../../../../plugins/platform/contract/jobs.ts'
import type { Finding, Findings } from './look.ts'
import type { DomainFault } from './faults.ts'
import { faultOf } from './faults.ts'

/** Intervals between checks of an unverified domain; the last one repeats until it fails. */
const CHECK_INTERVALS: readonly [Millis, ...Millis[]] = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR]
const GIVEN_UP_AFTER: Millis = 7 * DAY
/** Interval between checks of a verified domain. */
const VERIFIED_EVERY: Millis = DAY
/** Interval after a check of a verified domain without an answer of its name servers. */
const UNKNOWN_AGAIN: Millis = HOUR
/** Consecutive failed checks after which a verified domain fails: records are moved now and then. */
const MOST_FAILURES = 3

/** Initial state, also of a failed domain that is checked again. */
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
 * Next state of a domain after a check. A requested check between scheduled ones verifies the domain when
 * everything is found; otherwise it shows what is missing, and the schedule stays as it was.
 *
 * @param inUse another app has verified the hostname: the domain waits, even if everything is found
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
    // A start of waiting in the future comes from a clock that was ahead.
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

/** A verified domain is served until enough checks failed; a check without an answer does not count. */
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
