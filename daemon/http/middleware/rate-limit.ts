import type { Clock } from '../../../lib/engine/ports.ts'
import { MINUTE, SECOND } from '../../../lib/time.ts'
import type { Bucket, Buckets } from '../../buckets.ts'
import type { Operation } from '../../family.ts'
import { READS } from '../../family.ts'
import { callerOf, memberAccountOf } from '../../principal.ts'
import { httpError } from '../../errors.ts'
import type { Step } from '../state.ts'

/** Requests per minute by class; 0 is no limit. */
export interface RateLimits {
  /** Of one caller: a key, a user, the operator, or the network of an anonymous caller. */
  readonly reads: number
  readonly writes: number
  /** Of an account's keys and users together. Default: as many as one caller. */
  readonly account?: { readonly reads: number; readonly writes: number }
}

/**
 * Counts requests per class, for the caller and for its account, so that minting keys gains an account
 * nothing.
 *
 * Headers: draft-ietf-httpapi-ratelimit-headers-11, of whichever of the two has less left.
 */
export function createRateLimit(
  limits: RateLimits,
  clock: Pick<Clock, 'now'>,
  buckets: Buckets,
): (operation: Operation) => Step {
  return (operation) => {
    const kind = READS.has(operation.effect) ? 'reads' : 'writes'
    const isMetered = operation.unmetered !== true
    const ofCaller = isMetered ? limits[kind] : 0
    const ofAccount = isMetered ? (limits.account ?? limits)[kind] : 0
    return function rateLimit(ctx, next) {
      const { principal, address } = ctx.state
      const now = clock.now()
      const counted: Bucket[] = []
      if (ofCaller > 0) {
        counted.push(buckets.find(`${kind} ${callerOf(principal, address)}`, ofCaller, now))
      }
      const account = memberAccountOf(principal)
      if (ofAccount > 0 && account !== undefined) {
        counted.push(buckets.find(`${kind} account ${account}`, ofAccount, now))
      }
      const [first, ...others] = counted
      if (first === undefined) return next()
      const least = others.reduce((a, b) => (b.left < a.left ? b : a), first)
      // A refused request costs nothing, or a caller that keeps asking would never be let in.
      const isRefused = least.left < 1
      if (!isRefused) for (const bucket of counted) bucket.left -= 1
      const { perMinute } = least
      const left = Math.floor(least.left)
      // Until one whole request has refilled, rounded up: who waits as told is let in.
      const missing = left > 0 ? 0 : 1 - least.left
      const wait = Math.ceil((missing * MINUTE) / perMinute / SECOND)
      ctx.set('RateLimit-Policy', `"${kind}";q=${perMinute};w=60`)
      ctx.set('RateLimit', `"${kind}";r=${left};t=${wait}`)
      if (isRefused) throw httpError('rate_limited', { details: { retry_after: wait } })
      return next()
    }
  }
}
