import type { Platform } from '../../platform.ts'
import { toCall } from '../call.ts'
import { idempotencyOf, performOnce } from '../idempotency.ts'
import type { Answered } from '../perform.ts'
import { perform } from '../perform.ts'
import type { Step } from '../state.ts'

/** Runs the operation, once under an `Idempotency-Key`, and answers after its commit. */
export function answer(operation: Answered, platform: Platform): Step {
  return async function answer(ctx) {
    const call = toCall(ctx, platform)
    const idempotency = idempotencyOf(ctx, operation, platform)
    const { status, body, replayed } =
      idempotency === undefined
        ? await perform(operation, call)
        : await performOnce(operation, call, idempotency)
    ctx.status = status
    ctx.set('Content-Type', 'application/json; charset=utf-8')
    if (!ctx.res.hasHeader('cache-control')) ctx.set('Cache-Control', 'no-store')
    if (replayed) ctx.set('Idempotency-Replayed', 'true')
    ctx.body = body
  }
}
