import type { KeyhookError } from '../../../lib/errors.ts'
import type { Principal } from '../../authority/principal.ts'
import type { Operation } from '../../operations/operation.ts'
import { READS } from '../../operations/operation.ts'
import { DEFAULT_BODY_LIMIT, TOKEN_BYTES } from '../../limits/amounts.ts'
import { mostBytes } from '../../operations/parts.ts'
import type { Counting } from '../rates.ts'
import { createRate, leastOf, rateLimited, slowestOf } from '../rates.ts'
import type { CallContext, CallStep } from '../call-context.ts'

/** What the price of a request depends on. */
export type Metered = Pick<Operation, 'effect' | 'input' | 'bodyLimit' | 'unmetered'>

/**
 * Counts requests per class. A request costs one token, plus one for each started MiB of its body after the
 * first. A body without a length pays as it arrives, and copied bytes are paid before the copy. Unmetered
 * operations do not pay the first token. Streamed uploads cost one token, because transfers have limits of
 * their own.
 *
 * A request that costs more than a full bucket is admitted when the bucket is full, and leaves it in debt.
 *
 * Headers describe the bucket with the fewest tokens, or the one that the request has to wait for.
 */
export function createRateLimit(counting: Counting): (operation: Metered) => CallStep {
  return (operation) => {
    const kind = READS.has(operation.effect) ? 'reads' : 'writes'
    const { find, show } = createRate(kind, kind, counting)
    const metered = pricing(operation, 1)
    const free = pricing(operation, 0)
    const priceFor = ({ state }: Pick<CallContext, 'state'>): Pricing =>
      isUnmetered(operation, state.principal) ? free : metered

    return function rateLimit(ctx, next) {
      const priceOf = priceFor(ctx)
      const least = priceOf.of(0)
      const { tokens, isOpen } = priceOf.announced(ctx)
      if (tokens > 0) {
        const counted = find(ctx.state)
        const [first] = counted
        if (first === undefined) return next()
        const refused = slowestOf(counted, tokens, 0)
        if (refused !== undefined) {
          // A request that is refused unread costs nothing; otherwise a caller that keeps retrying
          // would never be admitted.
          throw rateLimited(show(ctx, refused, tokens))
        }
        for (const bucket of counted) bucket.left -= tokens
        show(ctx, leastOf(counted, first), 1)
        ctx.state.chargeCopy = charge(ctx, least)
      }
      if (isOpen) ctx.state.chargeBody = charge(ctx, tokens)
      return next()
    }

    /** Takes tokens for bytes that arrive later. A refusal keeps the taken tokens: those bytes were read. */
    function charge(ctx: CallContext, already: number): (size: number) => KeyhookError | undefined {
      let paid = already
      return (size) => {
        const price = priceFor(ctx).of(size)
        const more = price - paid
        if (more <= 0) return undefined
        const counted = find(ctx.state)
        const [first] = counted
        if (first === undefined) return undefined
        if (slowestOf(counted, more, paid) === undefined) {
          for (const bucket of counted) bucket.left -= more
          paid = price
          show(ctx, leastOf(counted, first), 1)
          return undefined
        }
        // The next attempt pays from the beginning: it passes this MiB once all tokens up to it are
        // available.
        return rateLimited(show(ctx, slowestOf(counted, price, 0) ?? first, price))
      }
    }
  }
}

interface Pricing {
  /** Tokens to take before a body is read, and whether its length is unknown. */
  announced(ctx: Pick<CallContext, 'get'>): { readonly tokens: number; readonly isOpen: boolean }
  /** Tokens for a body of this size. */
  of(size: number): number
}

function isUnmetered({ unmetered }: Metered, principal: Principal | undefined): boolean {
  return unmetered === 'operator' ? principal?.type === 'operator' : unmetered !== undefined
}

/** @param least tokens of a request without a body */
function pricing(operation: Metered, least: number): Pricing {
  const { parts, form } = operation.input
  const ofJson = operation.bodyLimit ?? DEFAULT_BODY_LIMIT
  const limit = form === undefined ? ofJson : Math.max(ofJson, mostBytes(form.parts))
  const none = { tokens: least, isOpen: false }
  const open = { tokens: least, isOpen: true }
  const of = (size: number): number => least + Math.max(0, Math.ceil(size / TOKEN_BYTES) - 1)
  return {
    of,
    announced(ctx) {
      if (parts !== undefined) return none
      const length = ctx.get('content-length')
      if (length === '') return ctx.get('transfer-encoding') === '' ? none : open
      const size = Number(length)
      // A body beyond the limit is refused unread.
      return size <= TOKEN_BYTES || size > limit ? none : { tokens: of(size), isOpen: false }
    },
  }
}
