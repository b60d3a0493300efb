import type { Platform } from '../../platform.ts'
import type { CallContext, CallStep } from '../call-context.ts'
import { toCall } from '../call.ts'
import { etagOf, isUnchanged } from '../conditions.ts'
import { csvOf, sendCsv } from '../csv.ts'
import type { AdmissionSteps } from './admit.ts'
import { idempotencyOf, performOnce } from '../idempotency.ts'
import type { AnyCall, Answer, Answered } from '../perform.ts'
import { isDryRun, perform, performQuote } from '../perform.ts'

/** Seconds until accepted work may have progressed. */
const COME_BACK = 2

/** Runs the operation, once per `Idempotency-Key`, and responds after its commit. */
export function answer(
  operation: Answered,
  platform: Platform,
  admission: AdmissionSteps,
): CallStep {
  requirePublicCache(operation)
  // The path prefix of the service.
  const root = new URL(platform.baseUrl).pathname.replace(/\/$/, '')
  return async function answer(ctx) {
    const call = toCall(ctx, platform, admission)
    const csv = csvOf(operation, call.query)
    if (csv !== undefined && operation.effect === 'read') {
      sendCsv(ctx, csv, await operation.run(call))
      return
    }
    const { status, body, replayed } = await answerTo(ctx, operation, platform, call)
    ctx.status = status
    ctx.set('Content-Type', 'application/json; charset=utf-8')
    if (!ctx.response.get('cache-control')) ctx.set('Cache-Control', 'no-store')
    if (replayed) ctx.set('Idempotency-Replayed', 'true')
    if (status === 202) setLocation(ctx, operation, root, body)
    ctx.body = body
    if (operation.cache !== undefined) letCache(ctx, operation.cache.seconds, body)
  }
}

function answerTo(
  ctx: CallContext,
  operation: Answered,
  platform: Platform,
  call: AnyCall,
): Promise<Answer> {
  if (isDryRun(operation, call.query)) return performQuote(operation, call)
  const idempotency = idempotencyOf(ctx, operation, platform)
  return idempotency === undefined
    ? perform(operation, call)
    : performOnce(operation, { ...call, idempotencyKey: idempotency.key }, idempotency)
}

/** A shared cache gives a response to everyone. */
function requirePublicCache({ id, access, effect, cache }: Answered): void {
  if (cache === undefined || (access === 'public' && effect === 'read')) return
  throw new TypeError(`${id}: only a public read may be cached`)
}

function letCache(ctx: CallContext, seconds: number, body: string): void {
  const etag = etagOf(body)
  ctx.set('ETag', etag)
  ctx.set('Cache-Control', `public, max-age=${seconds}`)
  if (!isUnchanged(ctx.headers, etag)) return
  ctx.status = 304
  ctx.body = null
}

/** Sets where and when to look again. A replay sets it from its stored body. */
function setLocation(ctx: CallContext, operation: Answered, root: string, body: string): void {
  const path = operation.watch?.(JSON.parse(body) as unknown)
  if (path === undefined) return
  ctx.set('Location', root + path)
  ctx.set('Retry-After', String(COME_BACK))
}
