import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../lib/engine/ports.ts'
import { SECOND } from '../lib/time.ts'
import { installCommand, unreadableTypes } from '../plugins/registry.ts'
import type { Config } from './config/config.ts'
import { SETTINGS } from './config/settings.ts'
import { rateLimitsOf } from './config/config.ts'
import type { DataFolder } from './machine/data-folder.ts'
import { takeDataFolder } from './machine/data-folder.ts'
import type { Closable, Closers } from './composition/closers.ts'
import { openInOrder } from './composition/closers.ts'
import { loadExtensions } from './composition/extensions/open.ts'
import { openLocal } from './composition/local.ts'
import type { Extensions } from './composition/plugins.ts'
import { daemonNeeds, requireInstalled, startsTelemetry } from './composition/packages.ts'
import type { Roles } from './composition/work.ts'
import type { Family } from './operations/family.ts'
import { ensureFirstUser, hasUser } from './families/accounts/first-user.ts'
import { FAMILIES, errorRows } from './families/index.ts'
import { createTestingFamily } from './families/testing/family.ts'
import { createApp } from './http/app.ts'
import type { Protocol } from './http/protocol-steps.ts'
import { cardPages, documents, DONE_PAGE } from './http/documents.ts'
import { frontPage } from './http/front-page.ts'
import { notReady, tooManyRequests } from './http/not-ready.ts'
import { createResolver } from './http/resolve.ts'
import { openAppsListener } from './hosting/listener.ts'
import { requireTwoPorts } from './hosting/apps-hosting.ts'
import { startHosting } from './hosting/start.ts'
import { clockOf } from './machine/ports.ts'
import { acceptedHosts, ownHostsOf, printAddress } from './listener/addresses.ts'
import { fitConnections, readDescriptorLimit } from './listener/descriptors.ts'
import { holdRequests } from './listener/held-requests.ts'
import type { Listener } from './listener/listener.ts'
import { openListener } from './listener/listener.ts'
import { API_LIMITS, reportRefusals } from './listener/refusals.ts'
import { apiPages } from './openapi/pages.ts'
import type { Platform } from './platform.ts'
import { servePortal, serveStudio } from './studio/serve.ts'
import { servePages } from './studio/setup-page.ts'
import type { Log } from './telemetry/log.ts'
import type { Metrics } from './telemetry/metrics.ts'
import type { Telemetry } from './telemetry/sdk.ts'
import { startTelemetry } from './telemetry/sdk.ts'
import { createMovableClock } from './testing/clock.ts'
import { emptyTestFolder } from './testing/folder.ts'
import { ownVersion } from './machine/own-version.ts'

/** A running daemon. */
export interface Daemon {
  /** Address that clients see. */
  readonly url: string
  readonly platform: Platform
  /** Setup link, printed once while there is no user. */
  readonly setupLink: string | undefined
  /** Metrics in Prometheus text format. */
  metrics(): Promise<string>
  /** Finishes requests in progress, releases claims, and closes everything. */
  stop(): Promise<void>
}

const CLOSE_GRACE = 10 * SECOND

/** Roles of one daemon of several. Default: all. Each serves probes and metrics. */
export interface DaemonRoles extends Roles {
  /** Serves the API, its pages, and published apps. */
  readonly api: boolean
}

export interface DaemonOptions extends DaemonRoles {
  /** Serves the operations of a test, on a clock of its own. Default false. */
  readonly test: boolean
  /** Families to serve. Default: all families of the product. */
  readonly families: readonly Family[]
}

/** Opens the store, migrates it, listens, and sends due deliveries. */
export async function startDaemon(
  given: Config,
  log: Log,
  options: Partial<DaemonOptions> = {},
): Promise<Daemon> {
  const { api = true, dispatch = true, families = FAMILIES, test = false } = options
  if (api) requireTwoPorts(given)
  const { close: stop, ...daemon } = await openInOrder((closers) =>
    serve(given, log, { api, dispatch, families, test }, closers),
  )
  return { ...daemon, stop }
}

/** Reported once: uploads of these types are refused. */
async function reportReaders(log: Log): Promise<void> {
  const { types, packages } = await unreadableTypes()
  if (types.length === 0) return
  log.warn({ types }, `files of these types cannot be read: ${installCommand(packages)}`)
}

async function serve(
  given: Config,
  log: Log,
  { families: own, test, ...roles }: DaemonOptions,
  closers: Closers,
): Promise<Omit<Daemon, 'stop'>> {
  const { api } = roles
  await requireInstalled(await daemonNeeds(given))
  const folder = await takeDataFolder(given.dataDir, 'create')
  closers.push(() => folder.release())
  const config = fitToProcess(given, log)
  await reportReaders(log)
  const telemetry = startsTelemetry(config)
    ? await startTelemetry(process.env, log, ownVersion())
    : undefined
  closers.push(() => telemetry?.close())
  const listeners: Listener[] = []
  const closeListeners = (): unknown => Promise.all(listeners.map((one) => one.close(CLOSE_GRACE)))
  closers.push(closeListeners)
  // First of all, so that a port in use changes nothing.
  const listener = await openApiListener(config)
  listeners.push(listener)
  const apps = api && config.apps === 'on' ? await openAppsListener(config) : undefined
  if (apps !== undefined) listeners.push(apps)
  const baseUrl = config.baseUrl ?? `http://${printAddress(listener.address)}`
  const extensions = await loadExtensions(config, folder)
  const families = [...own, ...extensions.families]
  const place = { config, log, folder, listener, apps, baseUrl, extensions, families, telemetry }
  const { current, close } = test ? await openForTest(place, roles) : await openOnce(place, roles)
  closers.push(close)
  // Requests in progress need all of this: listeners are closed before it, and closing them again does nothing.
  closers.push(closeListeners)
  closers.push(() => current().hosting?.stop())
  closers.push(async () => {
    current().leaving.abort()
    for (const one of listeners) one.announceClose()
    // Load balancers see that it is not ready before it stops responding.
    await delay(config.stopDelay * SECOND)
  })
  const { platform, setupLink } = current()
  return {
    url: baseUrl,
    platform,
    setupLink,
    metrics: async () => (await current().metrics.print()).text,
  }
}

/** What a service is opened in. */
interface Place {
  readonly config: Config
  readonly log: Log
  readonly folder: DataFolder
  readonly listener: Listener
  readonly apps: Listener | undefined
  readonly baseUrl: string
  readonly extensions: Extensions
  readonly families: readonly Family[]
  readonly telemetry: Telemetry | undefined
}

/** Everything but the listeners, which it serves. */
interface OpenedService extends Closable, Pick<Daemon, 'platform' | 'setupLink'> {
  readonly metrics: Metrics
  readonly handler: Parameters<Listener['serve']>[0]
  readonly hosting: { stop(): Promise<void> } | undefined
  readonly leaving: AbortController
}

/** The service that is open now, whichever it is once it is closed. */
interface Current extends Closable {
  current(): OpenedService
}

async function openOnce(place: Place, roles: DaemonRoles): Promise<Current> {
  const service = await openService(place, roles)
  return { current: () => service, close: () => service.close() }
}

/** A service with a clock that can be moved, which a reset replaces. */
async function openForTest(place: Place, roles: DaemonRoles): Promise<Current> {
  const machine = clockOf({})
  const { listener, folder } = place
  const open = (): Promise<OpenedService> => {
    const clock = createMovableClock(machine)
    const testing = createTestingFamily({ clock, reset: () => (resetting ??= reset()) })
    return openService({ ...place, families: [...place.families, testing] }, roles, clock)
  }
  let service: OpenedService
  /** Shared by all that ask meanwhile. */
  let resetting: Promise<void> | undefined
  /** Requests that come meanwhile are served by the new one. */
  async function reset(): Promise<void> {
    const held = holdRequests()
    listener.serve(held.hold)
    try {
      service.leaving.abort()
      await service.hosting?.stop()
      await service.close()
      await emptyTestFolder(folder.path)
      service = await open()
      held.release(service.handler)
    } catch (cause) {
      held.release(notReady)
      throw cause
    } finally {
      resetting = undefined
    }
  }
  service = await open()
  return {
    current: () => service,
    async close() {
      // One that a reset has opened since is still to be ended.
      await resetting?.catch(() => undefined)
      service.leaving.abort()
      await service.hosting?.stop()
      await service.close()
    },
  }
}

function openService(place: Place, roles: DaemonRoles, clock?: Clock): Promise<OpenedService> {
  return openInOrder((closers) => openParts(place, roles, clock, closers))
}

async function openParts(
  { config, log, folder, listener, apps, baseUrl, extensions, families, telemetry }: Place,
  { api, dispatch }: DaemonRoles,
  clock: Clock | undefined,
  closers: Closers,
): Promise<Omit<OpenedService, 'close'>> {
  const leaving = new AbortController()
  const { address } = listener
  const listeners = apps === undefined ? [listener] : [listener, apps]
  const local = await openLocal(config, log, folder, baseUrl, ownHostsOf(baseUrl, listeners), {
    appsPort: apps?.address.port,
    families,
    leaving: leaving.signal,
    extensions,
    telemetry,
    clock,
  })
  closers.push(() => local.close())
  const { platform, metrics } = local
  const { ownerEmail: email, ownerPassword: password } = config
  const owner = { email, password, baseUrl }
  // A test creates its own users: nobody follows a link.
  const needsUser = api && (config.mode !== 'test' || email !== undefined)
  const setupLink = needsUser ? await ensureFirstUser(platform, owner) : undefined
  const { brand, brandColor: color } = config
  const pages = [
    frontPage(platform.catalogue, () => hasUser(platform.store.accounts)),
    documents({
      ...apiPages(families, errorRows(families), baseUrl),
      ...DONE_PAGE,
      ...cardPages(platform),
    }),
    servePages(),
    serveStudio({ brand, color, baseUrl, previews: platform.appsHosting?.urlOf('*') }),
    servePortal({ brand, color, baseUrl, frameAncestors: config.portalFrameAncestors }),
  ]
  const app = createApp({
    platform,
    families: api ? families : [],
    traffic: local.traffic,
    resolve: createResolver({ platform, operatorToken: config.operatorToken }),
    rateLimits: rateLimitsOf(config),
    trustedProxies: config.trustedProxies,
    hosts: acceptedHosts(baseUrl, address.port),
    operatorToken: config.operatorToken,
    protocols: api ? await loadProtocols(families) : [],
    pages: api ? pages : [],
    log,
    logRequests: config.logRequests,
    metrics,
    tracing: telemetry?.tracing,
    leaving: leaving.signal,
  })
  const { observer } = await local.start({ dispatch })
  const { trustedProxies } = config
  const hosting =
    apps && startHosting(platform, { listener: apps, observer, trustedProxies, log, metrics })
  const run = app.callback()
  const handler: OpenedService['handler'] = (request, response) => void run(request, response)
  listener.serve(handler, reportRefusals(metrics.clients, log, platform.clock, API_LIMITS))
  return { platform, metrics, setupLink, hosting, leaving, handler }
}

/** Loads the other protocols, whose libraries nothing else needs. */
async function loadProtocols(families: readonly Family[]): Promise<readonly Protocol[]> {
  const [{ mcp }, { a2aProtocol }] = await Promise.all([
    import('./mcp/endpoint.ts'),
    import('./a2a/endpoint.ts'),
  ])
  return [mcp, a2aProtocol(families)]
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

/** Returns the settings with connection limits that fit the process's open files, and logs them. */
function fitToProcess(given: Config, log: Log): Config {
  const limit = readDescriptorLimit()
  const config = fitConnections(given, limit)
  const decided = {
    open_files: limit ?? null,
    connections: config.connections,
    apps_connections: config.appsConnections,
    dispatch_concurrency: config.dispatchConcurrency,
  }
  // Defaults are the maximum of use, and most machines lower them: only configured values warrant a
  // warning.
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
