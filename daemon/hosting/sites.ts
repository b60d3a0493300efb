import { LRUCache } from 'lru-cache'
import type { Change } from '../../lib/engine/changes.ts'
import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import type { LoadSite, LoadedSite } from './load-site.ts'
import type { Offline, Site, Sites } from './site.ts'

export interface SiteLimits {
  /** Hosts that are kept. */
  readonly hosts: number
  /** Hosts of nobody that are kept. */
  readonly unknown: number
  /** How long a host is taken for nobody's at the most, whatever is told. */
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
  /** Looks up what a host leads to. */
  readonly load: LoadSite
  readonly limits?: Partial<SiteLimits>
}

/**
 * What hosts lead to, from memory where it can be known: a change takes the hosts of its app out before
 * whoever made it is answered, and a look that a change overtook is not kept. While changes may go
 * unheard, and while another release is about to go live, every request looks for itself.
 */
export function createSites({ changes, clock, load, ...options }: SitesOptions): Sites {
  const limits = { ...LIMITS, ...options.limits }
  const kept = new LRUCache<string, LoadedSite>({ max: limits.hosts })
  /** Hosts of nobody, and until when they are taken for that. */
  const unknown = new LRUCache<string, Millis>({ max: limits.unknown })
  const looks = new Map<string, Promise<LoadedSite | undefined>>()
  let generation = 0

  function drop(change: Change | 'all'): void {
    if (change !== 'all' && change.kind !== 'site' && change.kind !== 'account') return
    generation++
    looks.clear()
    // Whose it is to be is not told by the name of an app.
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
      else if (!site.isTurning) kept.set(host, site)
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
    // Since that look was begun another release may have gone live.
    return (site?.isTurning === true ? await look(host) : site)?.serves()
  }

  return {
    find(host) {
      // A look that somebody else began may be older than a change that was not heard of.
      if (!changes.isCurrent()) return look(host).then((site) => site?.serves())
      const site = kept.get(host)
      if (site !== undefined && clock.now() < site.until) return site.serves()
      const until = unknown.get(host)
      return until !== undefined && clock.steady() < until ? undefined : lookOnce(host)
    },
  }
}
