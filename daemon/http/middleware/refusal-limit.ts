import { KeyhookError } from '../../../lib/errors.ts'
import type { Counting } from '../rates.ts'
import { createRate, leastOf, rateLimited, slowestOf } from '../rates.ts'
import type { RequestContext, Step } from '../state.ts'

const MESSAGE =
  'Too many requests of this caller or its account were refused, as a whole or in part. Wait as long as Retry-After says.'
/** A request that is answered so was not at fault: it may be repeated as it is. */
const REPEATABLE: ReadonlySet<number> = new Set([408, 429])

/**
 * Counts requests that are refused, or that hold something refused, where no others are counted: otherwise
 * they cost the process and nobody else. As many are allowed as writes.
 *
 * They pay afterwards. A caller that owes a token is refused unread until it has it. Their bucket is not
 * that of writes: one in debt, such as after a large clone, would refuse events that nothing is wrong with.
 */
export function createRefusalLimit(counting: Counting): Step {
  const rate = createRate('refusals', 'writes', counting)

  function count(ctx: RequestContext): void {
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
