import type { Instant } from '../../lib/time.ts'
import { MINUTE } from '../../lib/time.ts'

/** A bucket that refills with time, so that a steady caller is never punished for asking. */
export interface Bucket {
  readonly perMinute: number
  /** As of `at`. */
  left: number
  at: Instant
}

export interface Buckets {
  /** The bucket of a name, refilled; full when it is not known. */
  find(name: string, perMinute: number, now: Instant): Bucket
}

/** Buckets that are kept. */
const MOST = 50_000
/** The part of them that is forgotten at once, so that finding which costs little a request. */
const FORGOTTEN = 1 / 10

/**
 * Keeps a bounded number of buckets. When there are too many, the fullest are forgotten first: a
 * forgotten bucket starts full again, so whoever makes many names for themselves gains what those names
 * had used, and an empty bucket stays empty.
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

/** What a bucket holds by now; a clock that was set back takes nothing away. */
function leftIn({ perMinute, left, at }: Bucket, now: Instant): number {
  return Math.min(perMinute, left + (Math.max(0, now - at) * perMinute) / MINUTE)
}
