import type { Clock } from '../../../lib/engine/ports.ts'
import type { Instant } from '../../../lib/time.ts'
import { MINUTE, SECOND } from '../../../lib/time.ts'
import type { Operation } from '../../family.ts'
import { READS } from '../../family.ts'
import { callerOf } from '../../principal.ts'
import { httpError } from '../../errors.ts'
import type { Step } from '../state.ts'

/** Requests per minute and caller; 0 is no limit. */
export interface RateLimits {
  readonly reads: number
  readonly writes: number
}

/** A bucket that refills with time, so that a steady caller is never punished for asking. */
interface Bucket {
  readonly perMinute: number
  left: number
  at: Instant
}

/** What a bucket holds by now; a clock that was set back takes nothing away. */
function refilled({ perMinute, left, at }: Bucket, now: Instant): number {
  return Math.min(perMinute, left + (Math.max(0, now - at) * perMinute) / MINUTE)
}

/** Buckets that are full again are forgotten when this many are known. */
const MAX_BUCKETS = 50_000

/**
 * Counts requests per caller and class.
 *
 * Headers: draft-ietf-httpapi-ratelimit-headers-11.
 */
export function createRateLimit(
  limits: RateLimits,
  clock: Pick<Clock, 'now'>,
): (operation: Operation) => Step {
  const buckets = new Map<string, Bucket>()

  function spend(caller: string, perMinute: number): Bucket {
    const now = clock.now()
    if (buckets.size >= MAX_BUCKETS) forgetFull(now)
    const bucket = buckets.get(caller) ?? { perMinute, left: perMinute, at: now }
    bucket.left = refilled(bucket, now) - 1
    bucket.at = now
    buckets.set(caller, bucket)
    return bucket
  }

  function forgetFull(now: Instant): void {
    for (const [caller, bucket] of buckets) {
      if (refilled(bucket, now) >= bucket.perMinute) buckets.delete(caller)
    }
  }

  return (operation) => {
    const kind = READS.has(operation.effect) ? 'reads' : 'writes'
    const perMinute = operation.unmetered === true ? 0 : limits[kind]
    return function rateLimit(ctx, next) {
      if (perMinute === 0) return next()
      const caller = `${kind} ${callerOf(ctx.state.principal, ctx.state.address)}`
      const bucket = spend(caller, perMinute)
      const left = Math.max(0, Math.floor(bucket.left))
      // Until one whole request has refilled, rounded up: who waits as told is let in.
      const missing = left > 0 ? 0 : bucket.left < 0 ? -bucket.left : 1 - bucket.left
      const wait = Math.ceil((missing * MINUTE) / perMinute / SECOND)
      ctx.set('RateLimit-Policy', `"${kind}";q=${perMinute};w=60`)
      ctx.set('RateLimit', `"${kind}";r=${left};t=${wait}`)
      if (bucket.left < 0) {
        // A refused request costs nothing, or a caller that keeps asking would never be let in.
        bucket.left += 1
        throw httpError('rate_limited', { details: { retry_after: wait } })
      }
      return next()
    }
  }
}
