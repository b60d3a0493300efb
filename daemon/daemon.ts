import type { RequestListener } from 'node:http'
import { networkInterfaces } from 'node:os'
import { SECOND } from '../lib/time.ts'
import { EGRESS, STORES } from '../plugins/registry.ts'
import type { Store } from '../plugins/store/contract.ts'
import { composePlatform, keepBrand } from './compose.ts'
import type { Config } from './config.ts'
import { rateLimitsOf } from './config.ts'
import type { DataFolder } from './data-folder.ts'
import { takeDataFolder } from './data-folder.ts'
import { ensureFirstUser } from './families/accounts/first-user.ts'
import { FAMILIES, errorRows } from './families/index.ts'
import { createApp } from './http/app.ts'
import { documents } from './http/documents.ts'
import { notReady } from './http/not-ready.ts'
import { createControlResolver, createResolver } from './http/resolve.ts'
import { closeServer, createLimitedServer, listenLocally, listenOn } from './listen.ts'
import { openKeyring } from './master-key.ts'
import { createRandom } from './machine.ts'
import { apiPages } from './openapi/pages.ts'
import type { Platform } from './platform.ts'
import { servePages } from './studio/serve.ts'
import type { Log } from './telemetry/log.ts'
import type { Metrics } from './telemetry/metrics.ts'
import { createMetrics } from './telemetry/metrics.ts'

/** A running daemon. */
export interface Daemon {
  /** The address that clients see. */
  readonly url: string
  readonly platform: Platform
  /** Printed once when there is no user yet. */
  readonly setupLink: string | undefined
  /** The metrics in Prometheus' text format. */
  metrics(): Promise<string>
  /** Goes on answering what is under way, hands claims back, and leaves everything as it was found. */
  stop(): Promise<void>
}

const USES_EVERY = 30 * SECOND
const CLOSE_GRACE = 10 * SECOND

/**
 * Serves: opens the store, migrates it, listens, and sends what is due.
 *
 * @param roles `dispatch: false` accepts events and leaves sending them to another process
 */
export async function startDaemon(
  config: Config,
  log: Log,
  roles: { readonly dispatch: boolean } = { dispatch: true },
): Promise<Daemon> {
  const folder = await takeDataFolder(config.dataDir, 'create')
  const server = createLimitedServer()
  let handle: RequestListener = notReady
  server.on('request', (request, response) => {
    handle(request, response)
  })
  let leaving = false
  let local: Local | undefined
  let stopUses = (): Promise<void> => Promise.resolve()

  async function stop(): Promise<void> {
    leaving = true
    await closeServer(server, CLOSE_GRACE)
    await stopUses()
    await local?.platform.engine.dispatcher.stop()
    await local?.close()
    await folder.release()
  }

  try {
    // Before anything else is touched, so that a port that is taken changes nothing.
    const address = await listenOn(server, config.host, config.port)
    const own = `${printHost(address.host)}:${address.port}`
    const baseUrl = config.baseUrl ?? `http://${own}`
    local = await openLocal(config, log, folder, baseUrl, [own, ...ownAddresses(address.port)])
    const { platform, metrics } = local
    const setupLink = await ensureFirstUser(platform, {
      email: config.ownerEmail,
      password: config.ownerPassword,
      baseUrl,
    })
    const app = createApp({
      platform,
      families: FAMILIES,
      resolve: createResolver({ platform, operatorToken: config.operatorToken }),
      rateLimits: rateLimitsOf(config),
      hosts: acceptedHosts(baseUrl, address.port),
      operatorToken: config.operatorToken,
      pages: [documents(apiPages(FAMILIES, errorRows(FAMILIES), baseUrl)), servePages()],
      log,
      metrics,
      isLeaving: () => leaving,
    })
    if (roles.dispatch) await platform.engine.dispatcher.start()
    stopUses = keepUses(platform, log)
    const handler = app.callback()
    handle = (request, response) => void handler(request, response)
    return {
      url: baseUrl,
      platform,
      setupLink,
      metrics: async () => (await metrics.print()).text,
      stop,
    }
  } catch (cause) {
    await stop()
    throw cause
  }
}

export interface Local {
  readonly platform: Platform
  readonly metrics: Metrics
  readonly migrated: readonly string[]
  close(): Promise<void>
}

/** The daemon without its listeners and without sending: what a command needs when none is running. */
export async function openLocal(
  config: Config,
  log: Log,
  folder: DataFolder,
  baseUrl: string,
  ownHosts: readonly string[] = [],
): Promise<Local> {
  const openStore = await STORES.sqlite()
  const { store, migrated } = await openStore(config.databaseUrl ?? folder.file('keyhook.db'))
  if (migrated.length > 0) log.info({ migrations: migrated }, 'database brought up to date')
  try {
    const platform = await openPlatform(config, log, folder, store, baseUrl, ownHosts)
    const control = await openControl(platform.platform, platform.metrics, log, folder)
    return {
      ...platform,
      migrated,
      async close() {
        await closeServer(control, CLOSE_GRACE)
        await platform.platform.egress.close()
        await store.close()
      },
    }
  } catch (cause) {
    await store.close()
    throw cause
  }
}

async function openPlatform(
  config: Config,
  log: Log,
  folder: DataFolder,
  store: Store,
  baseUrl: string,
  ownHosts: readonly string[],
): Promise<{ readonly platform: Platform; readonly metrics: Metrics }> {
  await keepBrand(store, config.brand)
  const random = createRandom()
  const keyring = await openKeyring(config.masterKey, folder.file('master-key'), store, random)
  const createEgress = await EGRESS.undici()
  const egress = createEgress({
    policy: { schemes: ['https'], allow: config.webhookAllow, ownHosts },
    // Many webhooks may share an origin: waiting for a socket must not eat into an attempt's time.
    maxSocketsPerOrigin: config.concurrency,
  })
  const metrics = createMetrics()
  const parts = { config, families: FAMILIES, store, keyring, egress, metrics, log, baseUrl }
  return { platform: composePlatform(parts), metrics }
}

function openControl(
  platform: Platform,
  metrics: Metrics,
  log: Log,
  folder: DataFolder,
): ReturnType<typeof listenLocally> {
  const app = createApp({
    platform,
    families: FAMILIES,
    resolve: createControlResolver(platform),
    rateLimits: { reads: 0, writes: 0 },
    hosts: undefined,
    operatorToken: undefined,
    pages: [],
    log,
    metrics,
    isLeaving: () => false,
  })
  const handler = app.callback()
  return listenLocally(folder.controlSocket, (request, response) => {
    void handler(request, response)
  })
}

/** Uses of keys are noted in groups, off the path of requests. */
export function keepUses({ store, verifier }: Platform, log: Log): () => Promise<void> {
  async function flush(): Promise<void> {
    const uses = verifier.takeUses()
    if (uses.length === 0) return
    await store
      .write((tx) => tx.keys.touch(uses))
      .catch((cause: unknown) => {
        log.warn({ err: cause }, 'uses of keys could not be noted')
      })
  }
  const timer = setInterval(() => void flush(), USES_EVERY)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await flush()
  }
}

function acceptedHosts(baseUrl: string, port: number): ReadonlySet<string> {
  const base = new URL(baseUrl)
  return new Set([base.host, `127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`])
}

function ownAddresses(port: number): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.map(({ address }) => `${printHost(address)}:${port}`),
  )
}

function printHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
