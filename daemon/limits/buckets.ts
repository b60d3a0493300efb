import type { Instant } from '../../lib/time.ts'
import { MINUTE } from '../../lib/time.ts'

/** A token bucket that refills with time: a steady caller within its rate is never refused. */
export interface Bucket {
  readonly perMinute: number
  /** Tokens at `at`. */
  left: number
  at: Instant
}

export interface Buckets {
  /**
   * The refilled bucket of an id among those of its kind; a full one for an unknown id.
   *
   * @param kind one of a fixed set, since kinds are never evicted
   */
  find(kind: string, id: string, perMinute: number, now: Instant): Bucket
}

/** Maximum buckets kept. */
const MOST = 50_000
/** Share of the buckets that is evicted at once, so that choosing them costs little per request. */
const FORGOTTEN = 1 / 10

/**
 * Keeps a bounded number of buckets. Above it, the fullest are evicted first: an evicted bucket starts full
 * again, so a caller with many ids gains only what those ids had used, and an empty bucket stays empty.
 */
export function createBuckets(most = MOST): Buckets {
  // By kind and then by id: to join both would cost each request more than to look up both.
  const kinds = new Map<string, Map<string, Bucket>>()

  function forgetFullest(now: Instant): void {
    const fullest = [...kinds.values()]
      .flatMap((buckets) =>
        [...buckets].map(([id, bucket]) => ({
          buckets,
          id,
          full: leftIn(bucket, now) / bucket.perMinute,
        })),
      )
      .sort((a, b) => b.full - a.full)
      .slice(0, Math.ceil(most * FORGOTTEN))
    for (const { buckets, id } of fullest) buckets.delete(id)
  }

  function bucketsOf(kind: string): Map<string, Bucket> {
    const known = kinds.get(kind)
    if (known !== undefined) return known
    const buckets = new Map<string, Bucket>()
    kinds.set(kind, buckets)
    return buckets
  }

  return {
    find(kind, id, perMinute, now) {
      const buckets = bucketsOf(kind)
      const known = buckets.get(id)
      if (known !== undefined) {
        known.left = leftIn(known, now)
        known.at = now
        return known
      }
      const kept = [...kinds.values()].reduce((sum, { size }) => sum + size, 0)
      if (kept >= most) forgetFullest(now)
      const bucket = { perMinute, left: perMinute, at: now }
      buckets.set(id, bucket)
      return bucket
    },
  }
}

/** Current tokens of a bucket; setting the clock back removes none. */
function leftIn({ perMinute, left, at }: Bucket, now: Instant): number {
  return Math.min(perMinute, left + (Math.max(0, now - at) * perMinute) / MINUTE)
}
