import type { Site } from '../../../daemon/hosting/site.ts'
import { createHosting } from '../../../daemon/hosting/serve.ts'
import { createLimitedServer, listenOn } from '../../../daemon/listener/listen.ts'
import { clockOf, createRandom } from '../../../daemon/machine/ports.ts'
import { createLog } from '../../../daemon/telemetry/log.ts'
import { createMetrics } from '../../../daemon/telemetry/metrics.ts'
import type { AppBytes } from '../../../plugins/apps/contract.ts'
import { openDiskBytes } from '../../../plugins/apps/disk.ts'
import { createMemoryBytes } from '../../../plugins/apps/memory.ts'
import type { Manifest, ServedFile } from '../../../plugins/deploy/manifest.ts'
import { serve } from '../serve.ts'
import { STATIC, TYPES, hostOf } from '../static.ts'

export interface HostingAsked {
  readonly folder: string
  /** How many there are, each with files of its own. */
  readonly apps: number
}

/** Releases that an app had before and that open pages may still ask for. */
const EARLIER = 5

/**
 * The listener of apps with the sites in memory, as a daemon has those that are asked for. The files of
 * one app lie in a folder; those of many are read once each, and it takes long to make so many durable.
 */
async function start({ folder, apps }: HostingAsked): Promise<string> {
  const clock = clockOf({})
  const bytes = apps === 1 ? await openDiskBytes({ folder, clock }) : createMemoryBytes({ clock })
  const sites = new Map<string, Site>()
  for (let app = 0; app < apps; app++) sites.set(hostOf(app), await siteOf(bytes, app))
  const server = createLimitedServer()
  server.on(
    'request',
    createHosting({
      sites: { find: (host) => sites.get(host) },
      bytes,
      observer: { served: () => undefined, reported: () => undefined },
      clock,
      random: createRandom(),
      log: createLog('error'),
      trustedProxies: [],
      dropped: createMetrics().reports,
      studioOrigin: 'http://127.0.0.1:8420',
      probeToken: 'bench',
    }),
  )
  const { port } = await listenOn(server, '127.0.0.1', 0, 'KEYHOOK_APPS_PORT')
  return `http://127.0.0.1:${port}`
}

async function siteOf(bytes: AppBytes, app: number): Promise<Site> {
  const app_id = `bench${String(app).padStart(8, '0')}`
  const manifest = await manifestOf(bytes, app, app_id)
  const earlier = Array.from({ length: EARLIER }, () => ({ ...manifest }))
  return { app_id, kind: 'published', deployment_id: app_id, manifest, earlier }
}

/** The first app has all files; of the others each has a small one of its own. */
async function manifestOf(bytes: AppBytes, app: number, app_id: string): Promise<Manifest> {
  const files = new Map<string, ServedFile>()
  for (const [path, content] of Object.entries(STATIC)) {
    if (app > 0 && path === 'large.bin') continue
    const own = Buffer.from(content)
    own.writeUInt32LE(app, 0)
    const kept = await bytes.put(app_id, own)
    const type = TYPES[path as keyof typeof TYPES]
    files.set(path, { ...kept, path, type, immutable: false, encoded: {} })
  }
  return { files, spa: false }
}

/** What the process holds, in MB. */
function resident(): Promise<number> {
  return Promise.resolve(process.memoryUsage.rss() / 1e6)
}

serve({ start, resident })
