import { networkInterfaces } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { SECOND } from '../lib/time.ts'
import type { AppBytes } from '../plugins/apps/contract.ts'
import { APP_BYTES, openDatabase } from '../plugins/registry.ts'
import type { PlatformStore } from '../plugins/platform/contract.ts'
import type { Config } from './config/config.ts'
import { SETTINGS } from './config/settings.ts'
import { rateLimitsOf } from './config/config.ts'
import type { DataFolder } from './machine/data-folder.ts'
import { takeDataFolder } from './machine/data-folder.ts'
import { ensureFirstUser } from './families/accounts/first-user.ts'
import { FAMILIES, errorRows } from './families/index.ts'
import { createApp } from './http/app.ts'
import { documents } from './http/documents.ts'
import { frontPage } from './http/front-page.ts'
import { notReady, tooManyRequests } from './http/not-ready.ts'
import { createControlResolver, createResolver } from './http/resolve.ts'
import { openAppsListener } from './hosting/listener.ts'
import { appsPlaceOf, appsPortOf, requireTwoPorts } from './hosting/place.ts'
import { startHosting } from './hosting/start.ts'
import { clockOf } from './machine/ports.ts'
import { closeServer, listenLocally } from './listener/listen.ts'
import { fitConnections, readDescriptorLimit } from './listener/descriptors.ts'
import type { Listener } from './listener/listener.ts'
import { openListener } from './listener/listener.ts'
import { API_LIMITS, reportRefusals } from './listener/refusals.ts'
import type { Opened, Roles, Work } from './open.ts'
import { inspectStored, openPlatform, prepare, startWork } from './open.ts'
import { apiPages } from './openapi/pages.ts'
import type { Platform } from './platform.ts'
import { servePages } from './studio/setup-page.ts'
import type { Log } from './telemetry/log.ts'

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

const CLOSE_GRACE = 10 * SECOND

/** What one daemon of several does, by default all of it; each answers probes and metrics. */
export interface DaemonRoles extends Roles {
  /** Serves the API and its pages, and what is published. */
  readonly api: boolean
}

/** Serves: opens the store, migrates it, listens, and sends what is due. */
export async function startDaemon(
  given: Config,
  log: Log,
  { api = true, dispatch = true }: Partial<DaemonRoles> = {},
): Promise<Daemon> {
  if (api) requireTwoPorts(given)
  const folder = await takeDataFolder(given.dataDir, 'create')
  const config = fitToProcess(given, log)
  const leaving = new AbortController()
  let local: Local | undefined
  let work: Work | undefined
  let listener: Listener | undefined
  let apps: Listener | undefined
  let hosting: ReturnType<typeof startHosting> | undefined

  async function stop(): Promise<void> {
    leaving.abort()
    listener?.announceClose()
    apps?.announceClose()
    // Whoever balances load sees that it is not ready before it stops answering.
    if (work !== undefined) await delay(config.stopDelay * SECOND)
    await hosting?.stop()
    await Promise.all([listener?.close(CLOSE_GRACE), apps?.close(CLOSE_GRACE)])
    await work?.stop()
    await local?.close()
    await folder.release()
  }

  try {
    // Before anything else is touched, so that a port that is taken changes nothing.
    listener = await openApiListener(config)
    const { address } = listener
    if (api && config.apps === 'on') apps = await openAppsListener(config)
    const baseUrl = config.baseUrl ?? `http://${printAddress(address)}`
    const listeners = [address, ...(apps === undefined ? [] : [apps.address])]
    const ownHosts = [
      listenerOf(baseUrl),
      ...listeners.flatMap((one) => [printAddress(one), ...ownAddresses(one.port)]),
    ]
    local = await openLocal(config, log, folder, baseUrl, ownHosts, {
      appsPort: apps?.address.port,
      leaving: leaving.signal,
    })
    const { platform, metrics } = local
    const { ownerEmail: email, ownerPassword: password } = config
    const owner = { email, password, baseUrl }
    const setupLink = api ? await ensureFirstUser(platform, owner) : undefined
    const families = api ? FAMILIES : []
    const pages = [
      frontPage(platform.catalogue, () => platform.store.accounts.anyUser()),
      documents(apiPages(FAMILIES, errorRows(FAMILIES), baseUrl)),
      servePages(),
    ]
    const app = createApp({
      platform,
      families,
      traffic: local.traffic,
      resolve: createResolver({ platform, operatorToken: config.operatorToken }),
      rateLimits: rateLimitsOf(config),
      trustedProxies: config.trustedProxies,
      hosts: acceptedHosts(baseUrl, address.port),
      operatorToken: config.operatorToken,
      pages: api ? pages : [],
      log,
      metrics,
      leaving: leaving.signal,
    })
    work = await startWork(local, config, log, { dispatch })
    if (apps !== undefined) {
      const { observer } = work
      const { trustedProxies } = config
      hosting = startHosting(platform, { listener: apps, observer, trustedProxies, log, metrics })
    }
    const handler = app.callback()
    const { clock } = platform
    listener.serve(
      (request, response) => void handler(request, response),
      reportRefusals(local.metrics.clients, log, clock, API_LIMITS),
    )
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

function openApiListener(config: Config): Promise<Listener> {
  return openListener({
    host: config.host,
    port: config.port,
    setting: 'KEYHOOK_PORT',
    limits: { total: config.connections, perNetwork: config.networkConnections },
    trustedProxies: config.trustedProxies,
    notReady,
    tooMany: tooManyRequests,
  })
}

/** The settings with limits of connections that fit the process's open files; logs what was decided. */
function fitToProcess(given: Config, log: Log): Config {
  const limit = readDescriptorLimit()
  const config = fitConnections(given, limit)
  const decided = {
    open_files: limit ?? null,
    connections: config.connections,
    apps_connections: config.appsConnections,
    dispatch_concurrency: config.dispatchConcurrency,
  }
  // Defaults are the most that is of use, and lowered on most machines: nobody asked for them.
  const isConfigured = (name: 'connections' | 'appsConnections' | 'dispatchConcurrency'): boolean =>
    given[name] !== SETTINGS[name].fallback
  const isLowered =
    (config.connections < given.connections && isConfigured('connections')) ||
    (config.appsConnections < given.appsConnections && isConfigured('appsConnections')) ||
    (config.dispatchSockets < given.dispatchSockets && isConfigured('dispatchConcurrency'))
  if (isLowered) log.info(decided, 'connections.lowered to fit the open files of this process')
  else log.debug(decided, 'connections.limits')
  return config
}

export interface Local extends Opened {
  readonly migrated: readonly string[]
  close(): Promise<void>
}

/** What is known of the listeners, when there are any. */
export interface Serving {
  readonly appsPort?: number | undefined
  /** Aborts when the process stops. */
  readonly leaving?: AbortSignal
}

/** The daemon without its listeners and without sending: what a command needs when none is running. */
export async function openLocal(
  config: Config,
  log: Log,
  folder: DataFolder,
  baseUrl: string,
  ownHosts: readonly string[] = [],
  { appsPort = appsPortOf(config), leaving }: Serving = {},
): Promise<Local> {
  const place = config.databaseUrl ?? folder.file('keyhook.db')
  const isPostgres = place.startsWith('postgres')
  const masterKeyFile = isPostgres ? undefined : folder.file('master-key')
  const prepared = await prepare(config, FAMILIES)
  let appBytes: AppBytes | undefined
  let store: PlatformStore | undefined
  try {
    const database = await openDatabase(place, {
      inspect: (stored) => inspectStored(stored, config, masterKeyFile),
    })
    const { migrated, client } = database
    store = database.store
    if (migrated.length > 0) log.info({ migrations: migrated }, 'database brought up to date')
    const clock = clockOf(store)
    // Several daemons may share the database, and none of them a folder.
    appBytes = isPostgres
      ? await APP_BYTES.database({ client, clock })
      : await APP_BYTES.disk({ folder: folder.file('apps'), clock })
    const opened = await openPlatform({
      ...prepared,
      config,
      log,
      families: FAMILIES,
      store,
      appBytes,
      masterKeyFile,
      appsPlace: appsPlaceOf(config, appsPort),
      baseUrl,
      ownHosts,
      ...(leaving !== undefined && { leaving }),
    })
    const control = await openControl(opened, log, folder)
    return {
      ...opened,
      migrated,
      async close() {
        await closeServer(control, CLOSE_GRACE)
        await opened.platform.deployer?.close()
        await opened.platform.editor.close?.()
        await opened.platform.fileProcessor?.close()
        await opened.platform.embedder?.close?.()
        await opened.platform.egress.close()
        await appBytes?.close()
        await database.store.close()
      },
    }
  } catch (cause) {
    await prepared.fileProcessor.close()
    await appBytes?.close()
    await store?.close()
    throw cause
  }
}

function openControl(
  { platform, metrics, traffic }: Opened,
  log: Log,
  folder: DataFolder,
): ReturnType<typeof listenLocally> {
  const app = createApp({
    platform,
    families: FAMILIES,
    traffic,
    resolve: createControlResolver(platform),
    rateLimits: { reads: 0, writes: 0 },
    hosts: undefined,
    operatorToken: undefined,
    pages: [],
    log,
    metrics,
    leaving: new AbortController().signal,
  })
  const handler = app.callback()
  return listenLocally(folder.controlSocket, (request, response) => {
    void handler(request, response)
  })
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

/** Where clients reach it, be it through a proxy: no webhook may lead back to the service. */
function listenerOf(baseUrl: string): string {
  const { protocol, hostname, port } = new URL(baseUrl)
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`
}

function printHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

function printAddress({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${printHost(host)}:${port}`
}
