import { dirname } from 'node:path'
import { createUuid7 } from '../../lib/internal/uuid7.ts'
import type { Clock } from '../../lib/engine/ports.ts'
import type { AppBytes } from '../../plugins/apps/contract.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import type { StoredFacts } from '../../plugins/registry.ts'
import { APP_DIRECTORIES } from '../authority/app-directory.ts'
import { catalogueOf } from '../operations/catalogue.ts'
import type { Prices } from '../billing/prices.ts'
import type { Config } from '../config/config.ts'
import { rateLimitsOf } from '../config/config.ts'
import { createPageQueue } from '../families/cursor.ts'
import { createPollQueue } from '../families/polling.ts'
import { createReplayQueue } from '../families/webhooks/again.ts'
import type { Family } from '../operations/family.ts'
import type { TrafficLimits, Traffic } from '../http/traffic.ts'
import { bytesInProgress, createTraffic } from '../http/traffic.ts'
import { clockOf, createRandom } from '../machine/ports.ts'
import { keepInstallation, markFolder, requireDatabase } from '../machine/installation.ts'
import { openKeyring, requireMasterKey } from '../machine/master-key.ts'
import type { AppsHosting, Machine, Platform, Queues, Service } from '../platform.ts'
import { createBacklogReading } from '../sending/backlog.ts'
import { createSearchQueue } from '../queues/reads.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Telemetry } from '../telemetry/sdk.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { createApplyingQueue } from '../trees/applying-queue.ts'
import { createWriteQueue } from '../queues/writes.ts'
import { loadPrices, openBilling } from './billing.ts'
import { keepBrand, requireBrand } from './brand.ts'
import type { Closable, Closers } from './closers.ts'
import { openInOrder } from './closers.ts'
import { createOperating } from './operating.ts'
import { declareEventTypes, requireNeeded, requireOwnScopes, requireOwnTypes } from './declared.ts'
import { allowedModels } from './editor.ts'
import type { ScopesKnown } from './kernel.ts'
import { createKernel } from './kernel.ts'
import type { Extensions, GivenPlugins } from './plugins.ts'
import { NO_EXTENSIONS, openPlugins } from './plugins.ts'
import type { GivenProcessor } from './processor.ts'
import { openProcessing } from './processor.ts'
import { createWorkAvailable } from './work-available.ts'
import type { Roles, Work } from './work.ts'

/** The store, and the files of apps. */
export interface Storage extends Closable {
  readonly store: PlatformStore
  /** Store of app files; undefined: none. */
  readonly appBytes?: AppBytes | undefined
  /** Path of the master key to create for an empty database; undefined: the key must be configured. */
  readonly masterKeyFile: string | undefined
}

/**
 * Checks stored facts before the schema is touched.
 *
 * @throws ConfigError
 */
export type Inspect = (stored: StoredFacts, masterKeyFile: string | undefined) => Promise<void>

export interface Opening {
  readonly config: Config
  readonly log: Log
  readonly families: readonly Family[]
  /** Opens the store with a migrated schema. */
  openStorage(inspect: Inspect): Promise<Storage>
  /** Default: those of the specification too. */
  readonly knows?: ScopesKnown
  /** Addresses of apps; undefined when apps are not served. */
  readonly appsHosting?: AppsHosting | undefined
  readonly baseUrl: string
  /** Whether the operator sees the process over HTTP. Default false. */
  readonly operated?: boolean | undefined
  /** Whether MCP and A2A are served below it. Default false. */
  readonly agentProtocols?: boolean | undefined
  /** Addresses of this process, which webhooks must not reach. */
  readonly ownHosts: readonly string[]
  /** Aborts when the process stops. Default: never. */
  readonly leaving?: AbortSignal | undefined
  /** Plugins that replace those of the settings. Default: none. */
  readonly plugins?: GivenPlugins
  /** Plugins of the operator or the embedder, loaded and not created yet. Default: none. */
  readonly extensions?: Extensions | undefined
  /** Default: that of `KEYHOOK_BILLING`. */
  readonly processor?: GivenProcessor | undefined
  /** Default: the clock that the processes of the store share. */
  readonly clock?: Clock | undefined
  /** Default: those of the settings. */
  readonly prices?: Prices | undefined
  /** Receives spans and metrics. Default: none are made for anybody. */
  readonly telemetry?: Telemetry | undefined
  /** Limits of requests and responses. Default: those of production. */
  readonly traffic?: TrafficLimits | undefined
}

/** An open platform. Closing it ends its work first, and closes the store last. */
export interface Opened extends Closable {
  readonly platform: Platform
  readonly metrics: Metrics
  /** Shared by the requests of this process, on all listeners and mounts. */
  readonly traffic: Traffic
  /** Starts background work; call it at most once. */
  start(roles: Roles): Promise<Work>
}

/**
 * Opens the platform: the only place where one is assembled and closed. Nothing is sent yet.
 *
 * @throws ConfigError for a setting that cannot be used; nothing stays open then
 */
export function openPlatform(opening: Opening): Promise<Opened> {
  return openInOrder((closers) => open(opening, closers))
}

async function open(opening: Opening, closers: Closers): Promise<Omit<Opened, 'close'>> {
  const { config, log, families, plugins: given = {}, extensions = NO_EXTENSIONS } = opening
  requireNeeded(families)
  requireOwnTypes(config.eventTypes, families)
  requireOwnScopes(config.scopes, families)
  const prices = opening.prices ?? (await loadPrices(config, families))
  const { store, appBytes, masterKeyFile } = await openStorage(opening, closers)
  await keepBrand(store, config.brand)
  const installation = await keepInstallation(store)
  const machine = machineOf(opening.clock ?? clockOf(store))
  const keyring = await openKeyring(config.masterKey, masterKeyFile, store, machine.random)
  if (masterKeyFile !== undefined) await markFolder(dirname(masterKeyFile), installation)
  // Only a store of several processes tells them of each other's changes.
  const isShared = store.watch !== undefined
  const ports = { ...machine, log, ownHosts: opening.ownHosts, isShared }
  const plugins = await openPlugins(config, ports, { given, extensions }, closers)
  const processing =
    given.processing ?? (await openProcessing(config, ports, closers, opening.processor))
  const metrics = createMetrics()
  store.onSilence?.((processes) => {
    metrics.unacknowledged()
    log.warn({ processes }, 'a change waited for processes that did not answer')
  })
  const parts = {
    ...machine,
    config,
    families,
    knows: opening.knows ?? 'specified families',
    store,
    keyring,
    egress: plugins.egress,
    destinations: plugins.destinations,
    metrics,
    log,
    tracing: opening.telemetry?.tracing,
  }
  const kernel = await createKernel(parts)
  const platform: Platform = {
    ...machine,
    ...kernel,
    ...serviceOf(opening),
    billing: await openBilling(config, {
      ...machine,
      store,
      engine: kernel.engine,
      prices,
      processing,
    }),
    store,
    plugins: { ...plugins, appBytes: plugins.appBytes ?? appBytes },
    queues: createQueues(store),
    workAvailable: createWorkAvailable(),
    operating:
      opening.operated === true
        ? createOperating(config, metrics, { ...machine, store })
        : undefined,
  }
  await declareEventTypes(platform, config.eventTypes)
  const { clock } = machine
  const { changes } = store
  const traffic = createTraffic({ clock, changes, leaving: opening.leaving }, opening.traffic)
  watchBilling(platform, metrics)
  metrics.watchSending(kernel.engine.lease, {
    now: () => clock.now(),
    backlog: createBacklogReading(platform),
    claimed: () => kernel.engine.dispatcher.claimed,
    connections: () => store.connectionUse(),
  })
  metrics.watchBytes(() => bytesInProgress(traffic))
  return {
    platform,
    metrics,
    traffic,
    async start(roles) {
      // A command starts none of it.
      const { startWork } = await import('./work.ts')
      const work = await startWork({ platform, metrics, config, log, families }, roles)
      closers.push(() => work.stop())
      // By now all metrics are registered.
      opening.telemetry?.exportMetrics(metrics.registry)
      return work
    },
  }
}

function watchBilling({ billing, store }: Platform, metrics: Metrics): void {
  if (!billing.metered) return
  const { processing } = billing
  metrics.watchBilling(async () => ({
    holds: await store.ledger.countOpenHolds(),
    events: processing && (await store.payments.countWaiting(processing.name)),
  }))
}

async function openStorage(
  { openStorage: open, config }: Opening,
  closers: Closers,
): Promise<Storage> {
  const storage = await open(async (stored, masterKeyFile) => {
    if (masterKeyFile !== undefined) await requireDatabase(dirname(masterKeyFile), stored)
    await requireBrand(stored, config.brand)
    await requireMasterKey(config.masterKey, masterKeyFile, stored, createRandom())
  })
  closers.push(() => storage.close())
  return storage
}

function machineOf(clock: Clock): Machine {
  const random = createRandom()
  return { clock, random, newId: createUuid7(() => clock.now(), random) }
}

function createQueues(store: PlatformStore): Queues {
  return {
    applying: createApplyingQueue(),
    largePages: createPageQueue(),
    polls: createPollQueue(),
    writes: createWriteQueue(store),
    replays: createReplayQueue(),
    searches: createSearchQueue(),
  }
}

function serviceOf(opening: Opening): Service {
  const { config, families, appsHosting, baseUrl, agentProtocols = false } = opening
  // Without the apps family, this service has no apps of its own.
  const appIds = families.some(({ name }) => name === 'apps') ? config.appIds : 'any'
  return {
    catalogue: catalogueOf(config.brand, families),
    baseUrl,
    agentProtocols,
    keyLimit: config.keyLimit,
    rates: rateLimitsOf(config),
    standardHeaders: config.webhookStandardHeaders === 'on',
    models: allowedModels(config),
    appsHosting: appsHosting,
    appDirectory: APP_DIRECTORIES[appIds],
    appExtensions: families.flatMap(({ extendsApps = [] }) => extendsApps),
  }
}
