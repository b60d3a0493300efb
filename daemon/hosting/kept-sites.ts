import { LRUCache } from 'lru-cache'
import { createLimiter } from '../../lib/internal/limiter.ts'
import type { ReadSite } from './read-site.ts'
import type { Site } from './site.ts'

/** What an app is to serve. */
export interface WantedSite {
  /** Whose it is: of each, one is kept. */
  readonly of: string
  /** Names all that it is made of: what bears the same is the same. */
  readonly version: string
  read(): Promise<ReadSite>
}

/** From memory, or read. */
export type FindSite = (wanted: WantedSite) => Site | Promise<Site>

export interface KeptSiteLimits {
  /** Memory that all of them may take. */
  readonly bytes: number
  /** How many are read at once: until it is read, one may take some 30 MB. */
  readonly atOnce: number
}

const LIMITS: KeptSiteLimits = { bytes: 64 * 1024 * 1024, atOnce: 2 }

interface KeptSite extends ReadSite {
  readonly version: string
}

/**
 * Keeps what apps serve, once for all of their hosts. It is read once for all who wait for it, and
 * whoever asks for many apps at once waits in turn with everybody else.
 */
export function createKeptSites(given: Partial<KeptSiteLimits> = {}): FindSite {
  const limits = { ...LIMITS, ...given }
  const limiter = createLimiter(limits.atOnce)
  const kept = new LRUCache<string, KeptSite>({
    maxSize: limits.bytes,
    sizeCalculation: ({ bytes }) => bytes,
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
