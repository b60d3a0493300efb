import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Cidr } from '../../lib/egress/address.ts'
import type { Clock, RandomBytes } from '../../lib/engine/ports.ts'
import { toHex } from '../../lib/internal/bytes.ts'
import type { AppBytes } from '../../plugins/apps/contract.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Exchange } from './exchange.ts'
import { respond, respondPage, respondText, sentOf } from './exchange.ts'
import { findFile } from './find.ts'
import type { HeaderList } from './headers.ts'
import { PLAIN, cachingOf, createAppHeaders } from './headers.ts'
import { createInternalRoutes, isInternalKey } from './internal-routes.ts'
import { FAILED, MISSING, OFFLINE } from './pages.ts'
import { PROBE_HEADER } from './probe.ts'
import { createSendFile } from './send-file.ts'
import type { Observer, Offline, Site, Sites } from './site.ts'
import type { Target } from './target.ts'
import { keyOf, readTarget } from './target.ts'

export interface HostingPorts {
  readonly sites: Sites
  readonly bytes: Pick<AppBytes, 'get' | 'open'>
  readonly observer: Observer
  readonly clock: Pick<Clock, 'after' | 'now' | 'steady'>
  readonly random: RandomBytes
  readonly log: Pick<Log, 'error'>
  readonly trustedProxies: readonly Cidr[]
  /** Counters of dropped reports of browsers. */
  readonly dropped: Metrics['reports']
  /** Whether apps are served over https. Default false. */
  readonly isSecure?: boolean
  /** Origin of the studio, which may show previews in frames. */
  readonly studioOrigin: string
  /** Token of probes: they are not visitors, and are not observed. */
  readonly probeToken: string
}

const ALLOW = ['Allow', 'GET, HEAD, OPTIONS']
const ID_BYTES = 12
const MAX_PATH = 1024

/**
 * Serves apps, each on its own host, by their manifests. The API is not here, no cookie is read or set, and
 * hosts and methods in other headers than the request line and `Host` are ignored.
 */
export function createHosting(ports: HostingPorts): RequestListener {
  const { sites, clock, log } = ports
  const sendFile = createSendFile(ports)
  const serveInternal = createInternalRoutes(ports)
  const headers = createAppHeaders(ports.studioOrigin)

  /** The studio shows a preview also where it has no page. */
  function respondMissing(exchange: Exchange, { kind }: Site): void {
    respondPage(exchange, MISSING, [], kind === 'preview' ? ports.studioOrigin : "'none'")
  }

  function serveApp(exchange: Exchange, site: Site, target: Target, begun: number): void {
    const { path } = target
    const key = path === '*' ? '' : keyOf(path)
    if (typeof key === 'string' && isInternalKey(key)) {
      serveInternal(exchange, site, key)
      return
    }
    const { [PROBE_HEADER]: probe } = exchange.request.headers
    if (probe !== ports.probeToken) watch(ports, exchange, site, path, begun)
    const { method } = exchange.request
    if (key === 400) respondText(exchange, 400, 'This address is not well-formed.')
    else if (method === 'OPTIONS') respond(exchange, 204, [...headers(site), ...ALLOW])
    else if (method !== 'GET' && method !== 'HEAD') {
      respondText(exchange, 405, 'Apps are only read here.', ALLOW)
    } else if (key === 404) respondMissing(exchange, site)
    else sendPath(exchange, site, key, target)
  }

  function sendPath(exchange: Exchange, site: Site, key: string, { path, query }: Target): void {
    const common = headers(site)
    const found = findFile(site, key, exchange.request.headers.accept)
    const isThere = typeof found === 'object' && found.status === 200
    if (!isThere && isForWorker(exchange)) endWorker(exchange)
    else if (found === undefined) respondMissing(exchange, site)
    else if (found === 'folder') moveTo(exchange, `${path}/${query}`, site, common)
    else sendFile(exchange, site, found, common)
  }

  function answer(
    exchange: Exchange,
    target: Target,
    found: Site | Offline | undefined,
    begun: number,
  ): void {
    if (typeof found === 'object') serveApp(exchange, found, target, begun)
    else if (isForWorker(exchange)) endWorker(exchange)
    else if (found === undefined) respondText(exchange, 404, 'There is nothing at this address.')
    else respondPage(exchange, OFFLINE[found])
  }

  return (request, response) => {
    const begun = clock.steady()
    const exchange = exchangeOf(request, response, ports.random)
    const fail = (cause: unknown): void => {
      log.error({ request: exchange.requestId, err: cause }, 'an app could not be served')
      if (response.headersSent) response.destroy()
      else respondPage(exchange, FAILED, ['Retry-After', '5'])
    }
    try {
      const target = readTarget(request)
      if (typeof target === 'number') {
        respondText(exchange, target, MALFORMED[target], ['Connection', 'close'])
        return
      }
      const found = sites.find(target.host)
      if (!(found instanceof Promise)) answer(exchange, target, found, begun)
      else found.then((site) => answer(exchange, target, site, begun)).catch(fail)
    } catch (cause) {
      fail(cause)
    }
  }
}

const MALFORMED = {
  400: 'This is no request for a host and a path.',
  414: 'This address is too long.',
} as const

function exchangeOf(
  request: IncomingMessage,
  response: ServerResponse,
  random: RandomBytes,
): Exchange {
  const requestId = `req_${toHex(random(ID_BYTES))}`
  return { request, response, requestId, length: 0, taken: 0 }
}

/** By path only: the response names no host that the visitor did not name. */
function moveTo(exchange: Exchange, location: string, { kind }: Site, common: HeaderList): void {
  const headers = [...common, ...cachingOf(kind, false), 'Location', location]
  respond(exchange, 308, headers, Buffer.alloc(0))
}

/** Reports a response to the observer once it is over, whatever its outcome. */
function watch(
  { observer, clock }: HostingPorts,
  exchange: Exchange,
  { app_id, kind, deployment_id }: Site,
  path: string,
  begun: number,
): void {
  const { request, response, requestId } = exchange
  const at = clock.now()
  response.once('close', () => {
    if (!response.headersSent) return
    observer.served({
      app_id,
      kind,
      deployment_id,
      request_id: requestId,
      at,
      method: request.method ?? '',
      path: path.slice(0, MAX_PATH),
      status: response.statusCode,
      bytes: sentOf(exchange),
      duration: Math.round(clock.steady() - begun),
    })
  })
}

/** Whether a browser requests the script of a service worker, which bypasses the worker itself. */
function isForWorker({ request }: Exchange): boolean {
  return request.method === 'GET' && request.headers['service-worker'] === 'script'
}

const WORKER_HEADERS = [...PLAIN, 'Content-Type', 'text/javascript; charset=utf-8']

const WORKER_SCRIPT = Buffer.from(
  `addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(registration.unregister()))
`,
)

/**
 * Responds with a service worker that replaces the installed one and unregisters itself. While the script
 * is missing, browsers keep the installed worker, which would show a deleted app, or a release that was
 * rolled back, forever.
 */
function endWorker(exchange: Exchange): void {
  respond(exchange, 200, WORKER_HEADERS, WORKER_SCRIPT)
}
