import type { Instant } from '../../../lib/time.ts'
import type { ChangeSink } from '../contract/changes.ts'
import type { DomainReads, DomainRecord, DomainWrites, DomainsDue } from '../contract/domains.ts'
import type { Reading, State } from './state.ts'
import { add, change, isLeased, pageOf } from './state.ts'

export function domainReads(state: Reading): DomainReads {
  const ofApp = (appId: string) =>
    [...state().domains.values()].filter(({ app_id }) => app_id === appId)
  return {
    get: async (appId, id) => ofApp(appId).find((domain) => domain.id === id),
    list: async ({ app_id, ...page }) => pageOf(ofApp(app_id), page),
    count: async (appId) => ofApp(appId).length,
    async domainByHostname(hostname) {
      const found = verified(state(), hostname)
      const app = state().apps.get(found?.app_id ?? '')
      return app?.archived_at === null ? found : undefined
    },
    isClaimable: async (due) => next(state(), due) !== undefined,
  }
}

function verified({ domains }: State, hostname: string): DomainRecord | undefined {
  return [...domains.values()].find(
    (domain) => domain.hostname === hostname && domain.status === 'verified',
  )
}

function next({ domains, domainLeases }: State, due: DomainsDue): DomainRecord | undefined {
  const dueAt = ({ next_check_at }: DomainRecord): Instant => next_check_at ?? due.furthest_check
  const isDue = (at: Instant): boolean => at <= due.now || at > due.furthest_check
  return [...domains.values()]
    .filter((domain) => isDue(dueAt(domain)) && isFree(domainLeases, domain.id, due))
    .sort((a, b) => dueAt(a) - dueAt(b) || (a.id < b.id ? -1 : 1))[0]
}

/** Nobody holds it, or for longer than anybody does. */
function isFree(
  leases: State['domainLeases'],
  id: string,
  { now, furthest_lease }: Pick<DomainsDue, 'now' | 'furthest_lease'>,
): boolean {
  return !isLeased(leases, id, now) || isLeased(leases, id, furthest_lease)
}

export function domainWrites(state: State, changes: ChangeSink): DomainWrites {
  const { domains, domainLeases } = state
  const reads = domainReads(() => state)
  const noteChange = (appId: string): void => void changes.push({ kind: 'site', id: appId })
  const begin = (domain: DomainRecord, claim: string, until: Instant): DomainRecord => {
    domainLeases.set(domain.id, { claim, until })
    return domain
  }

  return {
    ...reads,
    async insert(domain) {
      const { app_id, hostname } = domain
      const doubled = [...domains.values()].some(
        (one) => one.app_id === app_id && one.hostname === hostname,
      )
      if (doubled || verified(state, hostname) !== undefined) return false
      add(domains, domain.id, domain)
      if (domain.status === 'verified') noteChange(app_id)
      return true
    },
    async setPrimary(appId, id, primary) {
      const domain = await reads.get(appId, id)
      if (domain === undefined || (primary && domain.status !== 'verified')) return false
      for (const one of primary ? domains.values() : []) {
        if (one.app_id === appId && one.primary) change(domains, one.id, { primary: false })
      }
      noteChange(appId)
      return change(domains, id, { primary })
    },
    async remove(appId, id) {
      const domain = await reads.get(appId, id)
      if (domain?.status === 'verified') noteChange(appId)
      return domain !== undefined && forget(state, id)
    },
    async claimDue({ claim, lease_until, ...due }) {
      const found = next(state, due)
      return found && begin(found, claim, lease_until)
    },
    async claimOne(appId, id, { claim, lease_until, since, ...due }) {
      const domain = await reads.get(appId, id)
      if (domain === undefined || !isFree(domainLeases, id, due)) return undefined
      const looked = domain.checked_at ?? 0
      const isNew = looked > since && looked <= due.now + (due.now - since)
      return isNew ? undefined : begin(domain, claim, lease_until)
    },
    async settle({ id, status }, claim, standing) {
      const domain = domains.get(id)
      const isHeld = domain?.status === status && domainLeases.get(id)?.claim === claim
      if (domain === undefined || !isHeld) return 'lost'
      const isVerified = standing.status === 'verified'
      const holder = verified(state, domain.hostname)
      if (isVerified && holder !== undefined && holder.id !== id) return 'taken'
      domainLeases.delete(id)
      change(domains, id, { ...standing, primary: isVerified && domain.primary })
      if (isVerified !== (status === 'verified')) noteChange(domain.app_id)
      return 'settled'
    },
  }
}

function forget({ domains, domainLeases }: State, id: string): boolean {
  domainLeases.delete(id)
  return domains.delete(id)
}

/** Deletes every domain of an app. */
export function purgeDomains(state: State, appId: string): void {
  for (const [id, { app_id }] of state.domains) if (app_id === appId) forget(state, id)
}
