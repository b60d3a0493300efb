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
 * nothing. A request takes one token, and one more for each further MiB of its body that is begun: what
 * is not announced takes its tokens as it comes in. An unmetered operation takes no first token. Streamed
 * uploads take one, since transfers have limits of their own.
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
        const refused = take(counted, tokens, 0)
        const shown = refused ?? leastOf(counted, first)
        const wait = secondsUntil(shown, refused === undefined ? 1 : tokens, 0)
        const left = Math.max(0, Math.floor(shown.left))
        ctx.set('RateLimit-Policy', `"${kind}";q=${shown.perMinute};w=60`)
        ctx.set('RateLimit', `"${kind}";r=${left};t=${wait}`)
        if (refused !== undefined) throw rateLimited(wait)
      }
      if (isOpen) ctx.state.chargeBody = charge(ctx, tokens)
      return next()
    }

    /** Takes tokens for a body of unknown length; a refusal gives back what the request had taken. */
    function charge(
      { state }: RequestContext,
      already: number,
    ): (size: number) => KeyhookError | undefined {
      let paid = already
      return (size) => {
        const more = priceOf.of(size) - paid
        if (more <= 0) return undefined
        const counted = find(state, clock.now())
        const refused = take(counted, more, paid)
        if (refused === undefined) {
          paid += more
          return undefined
        }
        const wait = secondsUntil(refused, more, paid)
        for (const bucket of counted) bucket.left += paid
        paid = 0
        return rateLimited(wait)
      }
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
 * Takes tokens from every bucket, or from none: then answers the one that has to be waited for longest.
 *
 * @param paid what the same request took already
 */
function take(counted: readonly Bucket[], tokens: number, paid: number): Bucket | undefined {
  let slowest: Bucket | undefined
  let longest = 0
  for (const bucket of counted) {
    const missing = missingIn(bucket, tokens, paid) / bucket.perMinute
    if (missing > longest) {
      longest = missing
      slowest = bucket
    }
  }
  // A refused request costs nothing, or a caller that keeps asking would never be let in.
  if (slowest === undefined) for (const bucket of counted) bucket.left -= tokens
  return slowest
}

/** What a bucket lacks for tokens; a request never needs more than a full bucket in all. */
function missingIn({ left, perMinute }: Bucket, tokens: number, paid: number): number {
  return Math.min(tokens, perMinute - paid) - left
}

/** Rounded up: who waits as told is let in. */
function secondsUntil(bucket: Bucket, tokens: number, paid: number): number {
  const missing = Math.max(0, missingIn(bucket, tokens, paid))
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
