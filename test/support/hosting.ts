import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { HostingPorts } from '../../daemon/hosting/serve.ts'
import { createHosting } from '../../daemon/hosting/serve.ts'
import type { BrowserReport, Offline, Served, Site } from '../../daemon/hosting/site.ts'
import { createLimitedServer } from '../../daemon/listener/listen.ts'
import { clockOf, createRandom } from '../../daemon/machine/ports.ts'
import type { Metrics } from '../../daemon/telemetry/metrics.ts'
import { createMetrics } from '../../daemon/telemetry/metrics.ts'
import type { AppBytes } from '../../plugins/apps/contract.ts'
import { createMemoryBytes } from '../../plugins/apps/memory.ts'
import type { HostedTree } from './hosted-apps.ts'
import { keepTree, manifestOf } from './hosted-apps.ts'

interface Scope {
  teardown(handler: () => Promise<void>): void
}

/** The listener of apps over sites in memory. */
export interface Hosting {
  readonly port: number
  readonly server: ReturnType<typeof createLimitedServer>
  /** What hosts lead to. */
  readonly sites: Map<string, Site | Offline>
  readonly bytes: AppBytes
  /** What the observer was told, in turn. */
  readonly served: Served[]
  readonly reported: (BrowserReport & { readonly app_id: string })[]
  /** What the log was told. */
  readonly failures: unknown[]
  /** Reports that were not looked at, by why. */
  readonly dropped: Metrics['reports']
  /** Serves a tree under a host. */
  publish(host: string, given: Published): Promise<Site>
}

export interface Published {
  readonly app_id: string
  readonly tree: HostedTree
  readonly spa?: boolean
  readonly preview?: boolean
  /** False for an app whose owner opted out of the beacon. */
  readonly observe?: boolean
  /** Served before, the latest first. */
  readonly earlier?: readonly HostedTree[]
}

export const PROBE_TOKEN = 'the token of our probes'

export const STUDIO = 'https://keyhook.example'

/** The id of the deployment of whatever is published. */
export const DEPLOYMENT = '0190a1b2-0000-7000-8000-000000000001'

export async function openHosting(
  test: Scope,
  given: Partial<HostingPorts> & { readonly bytes?: AppBytes } = {},
): Promise<Hosting> {
  const bytes = given.bytes ?? createMemoryBytes({ clock: { now: Date.now } })
  const sites = new Map<string, Site | Offline>()
  const served: Served[] = []
  const reported: Hosting['reported'] = []
  const failures: unknown[] = []
  const { reports: dropped } = createMetrics()
  const server = createLimitedServer()
  server.on(
    'request',
    createHosting({
      sites: { find: (host) => sites.get(host) },
      observer: {
        served: (one) => void served.push(one),
        reported: ({ app_id }, reports) =>
          void reported.push(...reports.map((one) => ({ ...one, app_id }))),
      },
      clock: clockOf({}),
      random: createRandom(),
      log: { error: (told: unknown) => void failures.push(told) },
      trustedProxies: [],
      dropped,
      studioOrigin: STUDIO,
      probeToken: PROBE_TOKEN,
      ...given,
      bytes,
    }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.teardown(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    port: (server.address() as AddressInfo).port,
    server,
    sites,
    bytes,
    served,
    reported,
    failures,
    dropped,
    async publish(host, given) {
      const { app_id, tree, spa = false, preview = false, observe = true, earlier = [] } = given
      for (const one of [tree, ...earlier]) await keepTree(bytes, app_id, one)
      const site: Site = {
        app_id,
        kind: preview ? 'preview' : 'published',
        deployment_id: preview ? null : DEPLOYMENT,
        manifest: { ...manifestOf(tree, spa), ...(!observe && { observe }) },
        earlier: earlier.map((one) => manifestOf(one, spa)),
      }
      sites.set(host, site)
      return site
    },
  }
}
