import type { Operation } from '../../family.ts'
import type { Platform } from '../../platform.ts'
import type { Principal } from '../../principal.ts'
import { idempotencyOf, performOnce } from '../idempotency.ts'
import type { AnyCall } from '../perform.ts'
import { perform } from '../perform.ts'
import type { RequestContext, Step } from '../state.ts'

/** Runs the operation, once under an `Idempotency-Key`, and answers after its commit. */
export function answer(operation: Operation, platform: Platform): Step {
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

function toCall(ctx: RequestContext, platform: Platform): AnyCall {
  const { principal, params, query, body, bodyText, requestId, address } = ctx.state
  return {
    platform,
    principal: principal as Principal,
    params: params as never,
    query: query as never,
    body: body as never,
    bodyText,
    prepared: undefined,
    now: platform.clock.now(),
    requestId,
    ip: address,
    response: {
      setCookie: (value) => {
        ctx.append('Set-Cookie', value)
      },
    },
  }
}
