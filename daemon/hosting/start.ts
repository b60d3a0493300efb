import { toHex } from '../../lib/internal/bytes.ts'
import type { Cidr } from '../../lib/egress/address.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Listener } from '../listener/listener.ts'
import { APPS_LIMITS, reportRefusals } from '../listener/refusals.ts'
import { startProbing } from './probes.ts'
import { createSiteLoader } from './load-site.ts'
import { sharedSite } from './apps-hosting.ts'
import { createProbe } from './probe.ts'
import { createHosting } from './serve.ts'
import type { Observer } from './site.ts'
import { createSites } from './sites.ts'

const TOKEN_BYTES = 16

export interface HostingOptions {
  readonly listener: Listener
  readonly observer: Observer
  readonly trustedProxies: readonly Cidr[]
  readonly log: Log
  readonly metrics: Pick<Metrics, 'reports' | 'visitors'>
}

/** Serves published apps and probes them at intervals, until it is stopped. */
export function startHosting(
  platform: Platform,
  { listener, observer, trustedProxies, log, metrics }: HostingOptions,
): { stop(): Promise<void> } {
  const { store, appsHosting: hosting, clock, random, baseUrl } = platform
  const { appBytes: bytes } = platform.plugins
  if (bytes === undefined || hosting === undefined)
    throw new TypeError('there is no place for apps')
  const warning = sharedSite(hosting, baseUrl)
  if (warning !== undefined) log.warn(warning)
  const load = createSiteLoader({ store, bytes, hosting })
  const probeToken = toHex(random(TOKEN_BYTES))
  listener.serve(
    createHosting({
      sites: createSites({ changes: store.changes, clock, load }),
      bytes,
      observer,
      clock,
      random,
      log,
      trustedProxies,
      isSecure: hosting.urlOf('app').startsWith('https:'),
      dropped: metrics.reports,
      studioOrigin: new URL(baseUrl).origin,
      probeToken,
    }),
    reportRefusals(metrics.visitors, log, clock, APPS_LIMITS),
  )
  return startProbing(platform, log, {
    probe: createProbe({ address: listener.address, token: probeToken, clock }),
    hostOf: (appId) => `${appId}.${hosting.domain}`,
  })
}
