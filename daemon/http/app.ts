import type { Context } from 'koa'
import Koa from 'koa'
import type { Cidr } from '../../lib/egress/address.ts'
import { SECOND } from '../../lib/time.ts'
import { httpError } from '../operations/errors.ts'
import type { Family } from '../operations/family.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'
import type { ProcessTracing } from '../telemetry/tracing.ts'
import type { LineLevel } from '../config/log-settings.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { createRoutes } from '../telemetry/request-metrics.ts'
import { hostCheck, securityHeaders } from './middleware/security.ts'
import { logRequests, requestId, traceRequests } from './middleware/request-log.ts'
import type { ErrorListener } from './middleware/respond.ts'
import { respond } from './middleware/respond.ts'
import { mount } from './mount.ts'
import type { IsOperator } from './resolve.ts'
import { operatorCheck } from './resolve.ts'
import type { Protocol } from './protocol-steps.ts'
import { probes } from './probes.ts'
import type { RateLimits } from './rates.ts'
import type { PrincipalResolver, RequestState, Step } from './state.ts'
import type { Traffic } from './traffic.ts'

export interface AppOptions {
  readonly platform: Platform
  readonly families: readonly Family[]
  readonly resolve: PrincipalResolver
  readonly rateLimits: RateLimits
  readonly trustedProxies?: readonly Cidr[]
  /** Shared by the requests of this process: the same for every app of a process. */
  readonly traffic: Traffic
  /** Accepted values of `Host`; undefined accepts any, as on the control socket. */
  readonly hosts: ReadonlySet<string> | undefined
  readonly operatorToken: string | undefined
  /** Other protocols over the same operations. Default: none. */
  readonly protocols?: readonly Protocol[]
  /** Steps that serve documents, pages and Studio. */
  readonly pages: readonly Step[]
  readonly log: Log
  /** Level of the line of each request. */
  readonly logRequests: LineLevel
  readonly metrics: Metrics
  /** Default: no spans are made. */
  readonly tracing?: ProcessTracing | undefined
  /** Aborts when the process stops. */
  readonly leaving: AbortSignal
}

/** The HTTP application of the daemon: probes, documents, metrics, and every operation. */
export function createApp(options: AppOptions): Koa<RequestState> {
  const { platform, families, log, metrics, traffic } = options
  const onError = errorListener(log, metrics)
  const app = new Koa<RequestState>()
  app.silent = true
  app.context.set = setHeaders
  app.use(requestId(platform.random))
  app.use(logRequests(log, options.logRequests))
  const routeOf = createRoutes(families.flatMap((family) => family.operations))
  if (options.tracing !== undefined) app.use(traceRequests(options.tracing, routeOf))
  const trustedProxies = options.trustedProxies ?? []
  const { baseUrl } = platform
  app.use(
    respond({
      baseUrl,
      traffic,
      trustedProxies,
      onError,
      count({ state, method, path, status }, took) {
        metrics.requested(routeOf(state.operation, method, path), status, took / SECOND)
      },
    }),
  )
  app.use(securityHeaders())
  const checks = options.hosts === undefined ? [] : [hostCheck(options.hosts)]
  const operations = mount({
    platform,
    families,
    resolve: options.resolve,
    rateLimits: options.rateLimits,
    trustedProxies,
    traffic,
    before: checks,
    protocols: options.protocols ?? [],
    hosts: options.hosts,
  })
  app.use(operations.fixed)
  app.use(probes(platform, options.leaving))
  for (const step of checks) app.use(step)
  app.use(serveMetrics(metrics, operatorCheck(options.operatorToken)))
  for (const step of options.pages) app.use(step)
  app.use(operations.others)
  app.use(nothingHere)
  return app
}

/** Koa looks through the values of each header before Node checks them again, for several of each response. */
function setHeaders(
  this: Pick<Context, 'res'>,
  given: string | Readonly<Record<string, string | string[]>>,
  value: string | string[] = '',
): void {
  if (this.res.headersSent) return
  if (typeof given === 'string') this.res.setHeader(given, value)
  else for (const [name, each] of Object.entries(given)) this.res.setHeader(name, each)
}

/** A 501 is not a defect: this daemon is not configured for the request. */
const NOT_HERE = 501

/** Counts every refusal, and logs only defects and unknown outcomes, with their cause. */
function errorListener(log: Log, metrics: Metrics): ErrorListener {
  return (error, request) => {
    metrics.refused(error.code)
    if (error.status < 500 || error.status === NOT_HERE) return
    const { code, internal, cause } = error
    log.error({ request, code, internal, err: cause }, 'request failed')
  }
}

function serveMetrics(metrics: Metrics, isOperator: IsOperator): Step {
  return async function serveMetrics(ctx, next) {
    if (ctx.path !== '/metrics' || ctx.method !== 'GET') return next()
    const [, given = ''] = /^Bearer (.+)$/.exec(ctx.get('authorization')) ?? []
    if (!isOperator(given)) throw httpError('operator_required')
    const { type, text } = await metrics.print()
    ctx.set('Content-Type', type)
    ctx.body = text
  }
}

function nothingHere(): never {
  throw httpError('route_not_found')
}
