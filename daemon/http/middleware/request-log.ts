import type { RandomBytes } from '../../../lib/engine/ports.ts'
import { toHex } from '../../../lib/internal/bytes.ts'
import type { LineLevel } from '../../config/log-settings.ts'
import type { Log } from '../../telemetry/log.ts'
import type { RouteOf } from '../../telemetry/request-metrics.ts'
import type { ProcessTracing } from '../../telemetry/tracing.ts'
import type { Step } from '../state.ts'

const GIVEN = /^[A-Za-z0-9._-]{8,128}$/

/** Gives each request an id: the caller's `X-Request-Id` if well-formed, else a new one. */
export function requestId(random: RandomBytes): Step {
  const newId = createIds(random)
  return function requestId(ctx, next) {
    const given = ctx.get('x-request-id')
    ctx.state.requestId = GIVEN.test(given) ? given : newId()
    ctx.set('X-Request-Id', ctx.state.requestId)
    return next()
  }
}

const ID_BYTES = 12
const IDS_AT_ONCE = 100

/** Draws the bytes of many ids at once, because each call of `random` copies and clears some. */
function createIds(random: RandomBytes): () => string {
  let digits = ''
  let used = 0
  return () => {
    if (used === digits.length) {
      digits = toHex(random(ID_BYTES * IDS_AT_ONCE))
      used = 0
    }
    const from = used
    used += 2 * ID_BYTES
    return `req_${digits.slice(from, used)}`
  }
}

const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])

/** Makes a span of each request but probes, from which its publications continue. */
export function traceRequests(tracing: ProcessTracing, routeOf: RouteOf): Step {
  return function traceRequests(ctx, next) {
    if (PROBES.has(ctx.path)) return next()
    return tracing.request(ctx.get('traceparent'), async () => {
      await next()
      const { operation, requestId, principal } = ctx.state
      return {
        route: routeOf(operation, ctx.method, ctx.path),
        status: ctx.status,
        request_id: requestId,
        account_id: principal?.account_id ?? undefined,
      }
    })
  }
}

const MAX_PATH = 200

/** Logs each request after its end, without its query, which may contain secrets. */
export function logRequests(log: Log, level: LineLevel): Step {
  return function logRequests(ctx, next) {
    if (level === 'off' || !log.isLevelEnabled(level)) return next()
    const begun = performance.now()
    ctx.res.once('close', () => {
      const { requestId, operation, principal } = ctx.state
      log[level](
        {
          request_id: requestId,
          method: ctx.method,
          ...(operation === undefined ? { path: ctx.path.slice(0, MAX_PATH) } : { operation }),
          status: ctx.res.statusCode,
          completed: ctx.res.writableFinished,
          duration_ms: Math.round(performance.now() - begun),
          account_id: principal?.account_id ?? null,
        },
        'request',
      )
    })
    return next()
  }
}
