import { KeyhookError } from '../../../lib/errors.ts'
import type { Counting } from '../rates.ts'
import { createRate, leastOf, rateLimited, slowestOf } from '../rates.ts'
import type { CallContext, CallStep } from '../call-context.ts'

const MESSAGE =
  'Too many requests of this caller or its account were refused, as a whole or in part. Wait as long as Retry-After says.'
/** Statuses of requests without fault, which may be repeated as they are. */
const REPEATABLE: ReadonlySet<number> = new Set([408, 429])

/**
 * Counts refused requests, and requests with refused items, where no others are counted: otherwise they
 * would use the process at no cost to the caller. The limit is that of writes.
 *
 * They pay afterwards. A caller in debt is refused unread until the debt is paid. The bucket is not that of
 * writes: a write bucket in debt, such as after a large clone, would refuse valid events.
 */
export function createRefusalLimit(counting: Counting): CallStep {
  const rate = createRate('refusals', 'writes', counting)

  function count(ctx: CallContext): void {
    const counted = rate.find(ctx.state)
    const [first] = counted
    if (first === undefined) return
    for (const bucket of counted) bucket.left -= 1
    rate.show(ctx, leastOf(counted, first), 0)
  }

  return async function refusalLimit(ctx, next) {
    const owing = slowestOf(rate.find(ctx.state), 0, 0)
    if (owing !== undefined) throw rateLimited(rate.show(ctx, owing, 0), MESSAGE)
    ctx.state.countRefusal = () => {
      count(ctx)
    }
    try {
      await next()
    } catch (cause) {
      if (isAtFault(cause)) count(ctx)
      throw cause
    }
  }
}

function isAtFault(cause: unknown): boolean {
  return cause instanceof KeyhookError && cause.status < 500 && !REPEATABLE.has(cause.status)
}
