import type { Log } from '../../telemetry/log.ts'
import type { Step } from '../state.ts'

const MAX_PATH = 200

/**
 * Logs each request at `debug` once it is over. The query is left out: what callers put there is theirs.
 */
export function logRequests(log: Log): Step {
  return function logRequests(ctx, next) {
    if (!log.isLevelEnabled('debug')) return next()
    const begun = performance.now()
    ctx.res.once('close', () => {
      const { requestId, operation, principal } = ctx.state
      log.debug(
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
