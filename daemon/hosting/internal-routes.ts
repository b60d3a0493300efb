import { createHash } from 'node:crypto'
import type { Cidr } from '../../lib/egress/address.ts'
import type { Clock } from '../../lib/engine/ports.ts'
import { createBuckets } from '../limits/buckets.ts'
import { clientAddress } from '../http/client-address.ts'
import { isUnchanged } from '../http/conditions.ts'
import { networkOf } from '../limits/network.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Exchange } from './exchange.ts'
import { respond, respondText } from './exchange.ts'
import { PLAIN } from './headers.ts'
import { readBeacon, readStandard } from './reports/read.ts'
import type { ReadReports } from './reports/intake.ts'
import { createIntake } from './reports/intake.ts'
import { scriptOf } from './reports/script.ts'
import type { Observer, Site } from './site.ts'

export interface InternalRoutePorts {
  readonly observer: Pick<Observer, 'reported'>
  readonly clock: Pick<Clock, 'after' | 'now' | 'steady'>
  readonly trustedProxies: readonly Cidr[]
  /** Counters of dropped reports. */
  readonly dropped: Metrics['reports']
}

const FOLDER = '_p'

/** Whether a key is an internal route; a file of the app at that key is not served. */
export function isInternalKey(key: string): boolean {
  return key === FOLDER || key.startsWith(`${FOLDER}/`)
}

const READERS: Readonly<Record<string, ReadReports>> = {
  '_p/beacon': readBeacon,
  '_p/reports': readStandard,
}

const SCRIPT = '_p/obs.js'

/** Reports per minute of one network about one app, and its burst. */
const REPORTS_A_MINUTE = 30

/**
 * Serves the internal routes of every app: the script that observes its pages, and the endpoints of
 * reports.
 */
export function createInternalRoutes({
  observer,
  clock,
  trustedProxies,
  dropped,
}: InternalRoutePorts): (exchange: Exchange, site: Site, key: string) => void {
  const takeIn = createIntake({ clock, dropped })
  const budget = createBudget(REPORTS_A_MINUTE, clock)

  function take(exchange: Exchange, site: Site, read: ReadReports): void {
    const { request } = exchange
    const network = networkOf(clientAddress(request, trustedProxies))
    if (!budget.spend(`${site.app_id} ${network}`)) {
      dropped.too_many += 1
      respond(exchange, 204, PLAIN)
      return
    }
    takeIn(request, network, read, (reports) => {
      respond(exchange, 204, PLAIN)
      if (reports.length > 0) observer.reported(site, reports, clock.now(), network)
    })
  }

  return (exchange, site, key) => {
    const { method } = exchange.request
    const read = Object.hasOwn(READERS, key) ? READERS[key] : undefined
    const isScript = key === SCRIPT
    if (read === undefined && !isScript) {
      respondText(exchange, 404, 'There is nothing at this address.')
      return
    }
    const allow = ['Allow', isScript ? 'GET, HEAD, OPTIONS' : 'POST, OPTIONS']
    if (method === 'OPTIONS') respond(exchange, 204, [...PLAIN, ...allow])
    else if (read !== undefined && method === 'POST') take(exchange, site, read)
    else if (isScript && (method === 'GET' || method === 'HEAD')) sendScript(exchange, site)
    else respondText(exchange, 405, 'This address is not asked for in this way.', allow)
  }
}

function sendScript(exchange: Exchange, { deployment_id }: Site): void {
  const script = Buffer.from(scriptOf(deployment_id))
  const etag = `"${createHash('sha256').update(script).digest('hex')}"`
  const headers = [
    'Content-Type',
    'text/javascript; charset=utf-8',
    'Cache-Control',
    'public, max-age=0, must-revalidate',
    'X-Content-Type-Options',
    'nosniff',
    'ETag',
    etag,
  ]
  const isKnown = isUnchanged(exchange.request.headers, etag)
  respond(exchange, isKnown ? 304 : 200, headers, isKnown ? undefined : script)
}

/** Maximum remembered spenders; those that spent least are evicted first. */
const MOST = 20_000

/** A rate limit per spender: a bucket that refills each minute. */
export interface Budget {
  /** False when the bucket is empty. */
  spend(spender: string): boolean
}

export function createBudget(
  perMinute: number,
  clock: Pick<Clock, 'steady'>,
  most: number = MOST,
): Budget {
  const buckets = createBuckets(most)
  return {
    spend(spender) {
      const bucket = buckets.find('spender', spender, perMinute, clock.steady())
      if (bucket.left < 1) return false
      bucket.left -= 1
      return true
    },
  }
}
