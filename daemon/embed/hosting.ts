import { SECOND } from '../../lib/time.ts'
import type { Opened } from '../composition/open.ts'
import type { Work } from '../composition/work.ts'
import type { Config } from '../config/config.ts'
import { appsHostingOf } from '../hosting/apps-hosting.ts'
import { openAppsListener } from '../hosting/listener.ts'
import { startHosting } from '../hosting/start.ts'
import type { AppsHosting } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'

/** How published apps of an embedded Keyhook are reached. */
export interface EmbeddedHosting {
  /** Undefined where they have no address. */
  readonly appsHosting: AppsHosting | undefined
  start(opened: Opened, work: Work, config: Config, log: Log): void
  stop(): Promise<void>
}

const CLOSE_GRACE = 10 * SECOND

const NO_HOSTING: EmbeddedHosting = {
  appsHosting: undefined,
  start: () => undefined,
  stop: () => Promise.resolve(),
}

/**
 * Listens for visitors of published apps, where the embedder gives the port: nothing else of it listens. Without a port,
 * `appsUrl` names where something else serves them.
 */
export async function openHosting(config: Config, hasApps: boolean): Promise<EmbeddedHosting> {
  const { appsPort, appsUrl } = config
  if (!hasApps || (appsPort === undefined && appsUrl === undefined)) return NO_HOSTING
  if (appsPort === undefined) return { ...NO_HOSTING, appsHosting: appsHostingOf(config, 0) }
  const listener = await openAppsListener(config)
  const stops: (() => Promise<unknown>)[] = [() => listener.close(CLOSE_GRACE)]
  return {
    appsHosting: appsHostingOf(config, listener.address.port),
    start({ platform, metrics }, { observer }, { trustedProxies }, log) {
      const hosting = startHosting(platform, { listener, observer, trustedProxies, log, metrics })
      stops.push(() => hosting.stop())
    },
    async stop() {
      for (const stop of stops.splice(0)) await stop()
    },
  }
}
