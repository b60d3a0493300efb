import type { Clock } from '../../lib/engine/ports.ts'
import type { KeyhookError } from '../../lib/errors.ts'
import { MINUTE, SECOND } from '../../lib/time.ts'
import type { Bucket, Buckets } from '../limits/buckets.ts'
import { httpError } from '../operations/errors.ts'
import type { CountedCaller } from '../authority/principal.ts'
import { callerOf, memberAccountOf } from '../authority/principal.ts'
import type { CallContext } from './call-context.ts'
import type { RequestState } from './state.ts'

/** Requests per minute by class; 0 means no limit. */
export interface RateLimits {
  /** Limits of one caller: a key, a user, the operator, or an anonymous network. */
  readonly reads: number
  readonly writes: number
  /** Limits of an account's keys and users together. Default: those of one caller. */
  readonly account?: { readonly reads: number; readonly writes: number }
}

/**
 * Requests counted for the caller and for its account, so that more keys do not gain an account more
 * requests.
 */
export interface Rate {
  /** The buckets of a caller; none without a limit. */
  find(state: RequestState): readonly Bucket[]
  /**
   * Sets the headers of draft-ietf-httpapi-ratelimit-headers-11.
   *
   * @returns seconds until the bucket has these tokens
   */
  show(ctx: Pick<CallContext, 'set'>, bucket: Bucket, tokens: number): number
}

/** State in which requests are counted. */
export interface Counting {
  readonly limits: RateLimits
  readonly clock: Pick<Clock, 'now'>
  readonly buckets: Buckets
}

/**
 * @param limit name of the limit
 */
export function createRate(
  name: string,
  limit: 'reads' | 'writes',
  { limits, clock, buckets }: Counting,
): Rate {
  const ofCaller = limits[limit]
  const ofAccount = (limits.account ?? limits)[limit]
  const kinds = kindsOf(name)
  return {
    find({ principal, address }) {
      const now = clock.now()
      const found: Bucket[] = []
      if (ofCaller > 0) {
        const { type, id } = callerOf(principal, address)
        found.push(buckets.find(kinds[type], id, ofCaller, now))
      }
      const account = memberAccountOf(principal)
      if (ofAccount > 0 && account !== undefined) {
        found.push(buckets.find(kinds.account, account, ofAccount, now))
      }
      return found
    },
    show(ctx, bucket, tokens) {
      const wait = secondsUntil(bucket, tokens)
      const left = Math.max(0, Math.floor(bucket.left))
      ctx.set('RateLimit-Policy', `"${name}";q=${bucket.perMinute};w=60`)
      ctx.set('RateLimit', `"${name}";r=${left};t=${wait}`)
      return wait
    },
  }
}

/** Kinds of the buckets of a limit. */
function kindsOf(name: string): Readonly<Record<CountedCaller['type'] | 'account', string>> {
  return {
    key: `${name} key`,
    user: `${name} user`,
    portal: `${name} portal`,
    operator: `${name} operator`,
    network: `${name} network`,
    account: `${name} account`,
  }
}

/**
 * The bucket with the longest wait; undefined when all buckets have the tokens.
 *
 * @param paid tokens that the same request has taken already
 */
export function slowestOf(
  counted: readonly Bucket[],
  tokens: number,
  paid: number,
): Bucket | undefined {
  let slowest: Bucket | undefined
  let longest = 0
  for (const bucket of counted) {
    const missing = missingIn(bucket, tokens, paid) / bucket.perMinute
    if (missing > longest) {
      longest = missing
      slowest = bucket
    }
  }
  return slowest
}

/** Tokens that a bucket lacks; a request never needs more than a full bucket in all. */
function missingIn({ left, perMinute }: Bucket, tokens: number, paid: number): number {
  return Math.min(tokens, perMinute - paid) - left
}

/** Rounded up: a client that waits this long is admitted. */
function secondsUntil(bucket: Bucket, tokens: number): number {
  const missing = Math.max(0, missingIn(bucket, tokens, 0))
  return Math.ceil((missing * MINUTE) / bucket.perMinute / SECOND)
}

export function leastOf(counted: readonly Bucket[], first: Bucket): Bucket {
  let least = first
  for (const bucket of counted) if (bucket.left < least.left) least = bucket
  return least
}

export function rateLimited(retry_after: number, message?: string): KeyhookError {
  return httpError('rate_limited', {
    details: { retry_after },
    ...(message !== undefined && { message }),
  })
}
