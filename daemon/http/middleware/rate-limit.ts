import type { Clock } from '../../../lib/engine/ports.ts'
import type { KeyhookError } from '../../../lib/errors.ts'
import type { Instant } from '../../../lib/time.ts'
import { MINUTE, SECOND } from '../../../lib/time.ts'
import type { Bucket, Buckets } from '../../buckets.ts'
import type { Operation } from '../../family.ts'
import { READS } from '../../family.ts'
import { DEFAULT_BODY_LIMIT, TOKEN_BYTES } from '../../limits.ts'
import { mostBytes } from '../../parts.ts'
import { callerOf, memberAccountOf } from '../../principal.ts'
import { httpError } from '../../errors.ts'
import type { RequestContext, Step } from '../state.ts'

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
 * nothing. A request costs one token, plus one for each started MiB of its body after the first. A body
 * without a length pays as it arrives, and what an operation copies is paid before it is copied. Unmetered
 * operations do not pay the first token. Streamed uploads cost one token, since transfers have limits of
 * their own.
 *
 * A request that costs more than a bucket holds is let in when the bucket is full, and leaves it in debt.
 *
 * Headers: draft-ietf-httpapi-ratelimit-headers-11, of the bucket that has least left, or that the request
 * has to wait for.
 */
export function createRateLimit(
  limits: RateLimits,
  clock: Pick<Clock, 'now'>,
  buckets: Buckets,
): (operation: Operation) => Step {
  return (operation) => {
    const kind = READS.has(operation.effect) ? 'reads' : 'writes'
    const ofCaller = limits[kind]
    const ofAccount = (limits.account ?? limits)[kind]
    const priceOf = pricing(operation)
    const least = priceOf.of(0)

    function find({ principal, address }: RequestContext['state'], now: Instant): Bucket[] {
      const found: Bucket[] = []
      if (ofCaller > 0) {
        found.push(buckets.find(`${kind} ${callerOf(principal, address)}`, ofCaller, now))
      }
      const account = memberAccountOf(principal)
      if (ofAccount > 0 && account !== undefined) {
        found.push(buckets.find(`${kind} account ${account}`, ofAccount, now))
      }
      return found
    }

    return function rateLimit(ctx, next) {
      const { tokens, isOpen } = priceOf.announced(ctx.req)
      if (tokens > 0) {
        const counted = find(ctx.state, clock.now())
        const [first] = counted
        if (first === undefined) return next()
        const refused = slowestOf(counted, tokens, 0)
        if (refused !== undefined) {
          // A request that is refused unread costs nothing, or a caller that keeps asking is never let in.
          throw rateLimited(show(ctx, refused, tokens))
        }
        for (const bucket of counted) bucket.left -= tokens
        show(ctx, leastOf(counted, first), 1)
        ctx.state.chargeCopy = charge(ctx, least)
      }
      if (isOpen) ctx.state.chargeBody = charge(ctx, tokens)
      return next()
    }

    /** Takes tokens for bytes that come later. A refusal keeps what was taken: those bytes were read. */
    function charge(
      ctx: RequestContext,
      already: number,
    ): (size: number) => KeyhookError | undefined {
      let paid = already
      return (size) => {
        const price = priceOf.of(size)
        const more = price - paid
        if (more <= 0) return undefined
        const counted = find(ctx.state, clock.now())
        const [first] = counted
        if (first === undefined) return undefined
        if (slowestOf(counted, more, paid) === undefined) {
          for (const bucket of counted) bucket.left -= more
          paid = price
          show(ctx, leastOf(counted, first), 1)
          return undefined
        }
        // The next try pays from the beginning: it gets past this MiB once all tokens up to it are there.
        return rateLimited(show(ctx, slowestOf(counted, price, 0) ?? first, price))
      }
    }

    /**
     * Sets the headers.
     *
     * @returns the seconds until the bucket has these tokens
     */
    function show(ctx: RequestContext, bucket: Bucket, tokens: number): number {
      const wait = secondsUntil(bucket, tokens)
      const left = Math.max(0, Math.floor(bucket.left))
      ctx.set('RateLimit-Policy', `"${kind}";q=${bucket.perMinute};w=60`)
      ctx.set('RateLimit', `"${kind}";r=${left};t=${wait}`)
      return wait
    }
  }
}

interface Pricing {
  /** Tokens to take before a body is read, and whether its length is yet to be known. */
  announced(request: RequestContext['req']): { readonly tokens: number; readonly isOpen: boolean }
  /** Tokens for a body of a size. */
  of(size: number): number
}

function pricing(operation: Operation): Pricing {
  const least = operation.unmetered === true ? 0 : 1
  const { parts, form } = operation.input
  const ofJson = operation.bodyLimit ?? DEFAULT_BODY_LIMIT
  const limit = form === undefined ? ofJson : Math.max(ofJson, mostBytes(form.parts))
  const none = { tokens: least, isOpen: false }
  const open = { tokens: least, isOpen: true }
  const of = (size: number): number => least + Math.max(0, Math.ceil(size / TOKEN_BYTES) - 1)
  return {
    of,
    announced({ headers }) {
      if (parts !== undefined) return none
      const length = headers['content-length']
      if (length === undefined) return headers['transfer-encoding'] === undefined ? none : open
      const size = Number(length)
      // A body beyond the limit is refused unread.
      return size <= TOKEN_BYTES || size > limit ? none : { tokens: of(size), isOpen: false }
    },
  }
}

/**
 * The bucket that has to be waited for longest; undefined when all of them have the tokens.
 *
 * @param paid what the same request took already
 */
function slowestOf(counted: readonly Bucket[], tokens: number, paid: number): Bucket | undefined {
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

/** What a bucket lacks for tokens; a request never needs more than a full bucket in all. */
function missingIn({ left, perMinute }: Bucket, tokens: number, paid: number): number {
  return Math.min(tokens, perMinute - paid) - left
}

/** Rounded up: who waits as told is let in. */
function secondsUntil(bucket: Bucket, tokens: number): number {
  const missing = Math.max(0, missingIn(bucket, tokens, 0))
  return Math.ceil((missing * MINUTE) / bucket.perMinute / SECOND)
}

function leastOf(counted: readonly Bucket[], first: Bucket): Bucket {
  let least = first
  for (const bucket of counted) if (bucket.left < least.left) least = bucket
  return least
}

function rateLimited(retry_after: number): KeyhookError {
  return httpError('rate_limited', { details: { retry_after } })
}
