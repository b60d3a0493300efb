import type { Change } from '../../lib/engine/changes.ts'
import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import type { LoadSite, LoadedSite } from './load-site.ts'
import type { Offline, Site, Sites } from './site.ts'
import { LruCache } from '../../lib/internal/lru-cache.ts'

export interface SiteLimits {
  /** Maximum cached hosts. */
  readonly hosts: number
  /** Maximum cached unknown hosts. */
  readonly unknown: number
  /** Maximum time that a host is cached as unknown, whatever changes. */
  readonly unknownFor: Millis
}

const LIMITS: SiteLimits = {
  hosts: 5000,
  unknown: 10_000,
  unknownFor: 10 * SECOND,
}

export interface SitesOptions {
  readonly changes: PlatformStore['changes']
  readonly clock: Pick<Clock, 'now' | 'steady'>
  /** Looks up a host. */
  readonly load: LoadSite
  readonly limits?: Partial<SiteLimits>
}

/**
 * Caches the sites of hosts where they can be known: a change removes the hosts of its app before the
 * change is answered, and a lookup that a change overtook is not cached. While change notifications may be
 * lost, and while another release is about to go live, every request looks up again.
 */
export function createSites({ changes, clock, load, ...options }: SitesOptions): Sites {
  const limits = { ...LIMITS, ...options.limits }
  const kept = new LruCache<LoadedSite>({ max: limits.hosts })
  /** Unknown hosts, with the expiry of each entry. */
  const unknown = new LruCache<Millis>({ max: limits.unknown })
  const looks = new Map<string, Promise<LoadedSite | undefined>>()
  let generation = 0

  function drop(change: Change | 'all'): void {
    if (change !== 'all' && change.kind !== 'site' && change.kind !== 'account') return
    generation++
    looks.clear()
    // A change of a site may give it a host that its app's id does not name.
    if (change === 'all' || change.kind === 'site') unknown.clear()
    for (const [host, site] of kept) {
      const isMeant =
        change === 'all' || change.id === (change.kind === 'site' ? site.app_id : site.account_id)
      if (isMeant) kept.delete(host)
    }
  }

  changes.listen(drop)

  async function look(host: string): Promise<LoadedSite | undefined> {
    const before = generation
    const site = await load(host, clock.now())
    if (generation === before) {
      if (site === undefined) unknown.set(host, clock.steady() + limits.unknownFor)
      else if (!site.isSwitching) kept.set(host, site)
    }
    return site
  }

  async function lookOnce(host: string): Promise<Site | Offline | undefined> {
    const begun = looks.get(host)
    if (begun === undefined) {
      const own = look(host).finally(() => {
        if (looks.get(host) === own) looks.delete(host)
      })
      looks.set(host, own)
      return (await own)?.serves()
    }
    const site = await begun
    // Another release may have gone live since that lookup began.
    return (site?.isSwitching === true ? await look(host) : site)?.serves()
  }

  return {
    find(host) {
      // A lookup of another request may be older than a missed change.
      if (!changes.isCurrent()) return look(host).then((site) => site?.serves())
      const site = kept.get(host)
      if (site !== undefined && clock.now() < site.until) return site.serves()
      const until = unknown.get(host)
      return until !== undefined && clock.steady() < until ? undefined : lookOnce(host)
    },
  }
}
