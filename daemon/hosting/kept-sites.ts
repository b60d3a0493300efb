import { createLimiter } from '../../lib/internal/limiter.ts'
import type { ReadSite } from './read-site.ts'
import type { Site } from './site.ts'
import { LruCache } from '../../lib/internal/lru-cache.ts'

/** Site that a host needs. */
export interface WantedSite {
  /** Cache key: one site is kept per key. */
  readonly of: string
  /** Version: the same version has the same content. */
  readonly version: string
  read(): Promise<ReadSite>
}

/** Returns a site from memory, or reads it. */
export type FindSite = (wanted: WantedSite) => Site | Promise<Site>

export interface KeptSiteLimits {
  /** Maximum memory of all sites. */
  readonly bytes: number
  /** Maximum concurrent reads: one may take some 30 MB until it is done. */
  readonly atOnce: number
}

const LIMITS: KeptSiteLimits = { bytes: 64 * 1024 * 1024, atOnce: 2 }

interface KeptSite extends ReadSite {
  readonly version: string
}

/**
 * Caches the sites of apps for all of their hosts. Each is read once for all that wait for it; reads of
 * many apps wait in one queue.
 */
export function createKeptSites(given: Partial<KeptSiteLimits> = {}): FindSite {
  const limits = { ...LIMITS, ...given }
  const limiter = createLimiter(limits.atOnce)
  const kept = new LruCache<KeptSite>({
    maxSize: limits.bytes,
    sizeOf: ({ bytes }) => bytes,
  })
  const reading = new Map<string, Promise<Site>>()

  async function read({ of, version, read }: WantedSite): Promise<Site> {
    const one = await limiter(read)
    if (one.isWhole) kept.set(of, { ...one, version })
    else kept.delete(of)
    return one.site
  }

  return (wanted) => {
    const { of, version } = wanted
    const known = kept.get(of)
    if (known?.version === version) return known.site
    const key = `${of} ${version}`
    const begun = reading.get(key)
    if (begun !== undefined) return begun
    const own = read(wanted).finally(() => reading.delete(key))
    reading.set(key, own)
    return own
  }
}
