import type { Platform } from '../../platform.ts'
import { toCall } from '../call.ts'
import type { AdmissionSteps } from './admit.ts'
import { idempotencyOf, performOnce } from '../idempotency.ts'
import type { Answered } from '../perform.ts'
import { perform } from '../perform.ts'
import type { RequestContext, Step } from '../state.ts'

/** Seconds until there may be more to tell of what is to be carried out. */
const COME_BACK = 2

/** Runs the operation, once under an `Idempotency-Key`, and answers after its commit. */
export function answer(operation: Answered, platform: Platform, admission: AdmissionSteps): Step {
  // Below the prefix that the service may have.
  const root = new URL(platform.baseUrl).pathname.replace(/\/$/, '')
  return async function answer(ctx) {
    const call = toCall(ctx, platform, admission)
    const idempotency = idempotencyOf(ctx, operation, platform)
    const { status, body, replayed } =
      idempotency === undefined
        ? await perform(operation, call)
        : await performOnce(operation, call, idempotency)
    ctx.status = status
    ctx.set('Content-Type', 'application/json; charset=utf-8')
    if (!ctx.res.hasHeader('cache-control')) ctx.set('Cache-Control', 'no-store')
    if (replayed) ctx.set('Idempotency-Replayed', 'true')
    if (status === 202) setLocation(ctx, operation, root, body)
    ctx.body = body
  }
}

/** Where and when to look again. A replay tells it anew: what was told is in its body. */
function setLocation(ctx: RequestContext, operation: Answered, root: string, body: string): void {
  const path = operation.watch?.(JSON.parse(body) as unknown)
  if (path === undefined) return
  ctx.set('Location', root + path)
  ctx.set('Retry-After', String(COME_BACK))
}
