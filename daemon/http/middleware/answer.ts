import type { Platform } from '../../platform.ts'
import { toCall } from '../call.ts'
import type { AdmissionSteps } from './admit.ts'
import { idempotencyOf, performOnce } from '../idempotency.ts'
import type { Answered } from '../perform.ts'
import { perform } from '../perform.ts'
import type { RequestContext, Step } from '../state.ts'

/** Seconds until accepted work may have progressed. */
const COME_BACK = 2

/** Runs the operation, once per `Idempotency-Key`, and responds after its commit. */
export function answer(operation: Answered, platform: Platform, admission: AdmissionSteps): Step {
  // The path prefix of the service.
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

/** Sets where and when to look again. A replay sets it from its stored body. */
function setLocation(ctx: RequestContext, operation: Answered, root: string, body: string): void {
  const path = operation.watch?.(JSON.parse(body) as unknown)
  if (path === undefined) return
  ctx.set('Location', root + path)
  ctx.set('Retry-After', String(COME_BACK))
}
