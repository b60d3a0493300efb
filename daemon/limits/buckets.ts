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
  /** The refilled bucket of a name; a full one for an unknown name. */
  find(name: string, perMinute: number, now: Instant): Bucket
}

/** Maximum buckets kept. */
const MOST = 50_000
/** Share of the buckets that is evicted at once, so that choosing them costs little per request. */
const FORGOTTEN = 1 / 10

/**
 * Keeps a bounded number of buckets. Above it, the fullest are evicted first: an evicted bucket starts full
 * again, so a caller with many names gains only what those names had used, and an empty bucket stays empty.
 */
export function createBuckets(most = MOST): Buckets {
  const buckets = new Map<string, Bucket>()

  function forgetFullest(now: Instant): void {
    const fullest = [...buckets]
      .map(([name, bucket]) => ({ name, full: leftIn(bucket, now) / bucket.perMinute }))
      .sort((a, b) => b.full - a.full)
    for (const { name } of fullest.slice(0, Math.ceil(most * FORGOTTEN))) buckets.delete(name)
  }

  return {
    find(name, perMinute, now) {
      const known = buckets.get(name)
      if (known !== undefined) {
        known.left = leftIn(known, now)
        known.at = now
        return known
      }
      if (buckets.size >= most) forgetFullest(now)
      const bucket = { perMinute, left: perMinute, at: now }
      buckets.set(name, bucket)
      return bucket
    },
  }
}

/** Current tokens of a bucket; setting the clock back removes none. */
function leftIn({ perMinute, left, at }: Bucket, now: Instant): number {
  return Math.min(perMinute, left + (Math.max(0, now - at) * perMinute) / MINUTE)
}
