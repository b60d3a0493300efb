import type { AppBytes } from '../plugins/apps/contract.ts'
import type { FileProcessor } from '../plugins/files/contract.ts'
import type { StoredFacts } from '../plugins/registry.ts'
import { BILLINGS, DEPLOYERS, EGRESS, NAME_LOOKUPS } from '../plugins/registry.ts'
import type { PlatformStore } from '../plugins/platform/contract.ts'
import { DAY, SECOND } from '../lib/time.ts'
import {
  composePlatform,
  declareEventTypes,
  keepBrand,
  requireBrand,
  requireOwnTypes,
} from './compose.ts'
import type { Config } from './config/config.ts'
import { openEditor } from './editor.ts'
import { openEmbedder } from './embedder.ts'
import { openEventPositions } from './events/positions.ts'
import { collectApps } from './families/apps/collect.ts'
import { DEPLOY_TIMES } from './families/deploy/carry-out.ts'
import { EDIT_TIMES } from './families/edits/carry-out.ts'
import { FILE_TIMES } from './families/files/process.ts'
import { publicAppsDomain } from './families/settings/domains/records.ts'
import type { Family } from './operations/family.ts'
import { openFileProcessor } from './file-processor.ts'
import type { Traffic } from './http/traffic.ts'
import { bytesInProgress, createTraffic } from './http/traffic.ts'
import { clockOf, createRandom } from './machine/ports.ts'
import { openKeyring, requireMasterKey } from './machine/master-key.ts'
import type { AppsPlace, Platform } from './platform.ts'
import type { Log } from './telemetry/log.ts'
import type { Observer } from './hosting/site.ts'
import type { Metrics } from './telemetry/metrics.ts'
import { createMetrics } from './telemetry/metrics.ts'
import { keepClearing } from './worker/clearing.ts'
import { keepChecking } from './worker/domains.ts'
import { keepDeploying } from './worker/deploys.ts'
import { keepEditing } from './worker/edits.ts'
import { keepProcessing } from './worker/files.ts'
import { keepObserving } from './worker/observations.ts'
import { keepSealed } from './worker/reseal.ts'
import { keepRemoving } from './worker/removed.ts'
import { keepTimed, purgeExpired } from './worker/retention.ts'

export interface Opened {
  readonly platform: Platform
  readonly metrics: Metrics
  /** What the requests of this process share, on all its listeners and mounts. */
  readonly traffic: Traffic
}

/** What settings name, found to be right before a database is opened. */
export interface Prepared {
  readonly fileProcessor: FileProcessor
}

export interface Opening extends Prepared {
  readonly config: Config
  readonly log: Log
  readonly families: readonly Family[]
  readonly store: PlatformStore
  /** Where the files of apps are kept; without it there are none. */
  readonly appBytes?: AppBytes | undefined
  /** Where apps are seen; without it they are nowhere. */
  readonly appsPlace?: AppsPlace | undefined
  /** Where a master key is made for an empty database; undefined: one must be configured. */
  readonly masterKeyFile: string | undefined
  readonly baseUrl: string
  /** Addresses of this process' own, which no webhook may reach. */
  readonly ownHosts: readonly string[]
  /** Aborts when the process stops. Default never. */
  readonly leaving?: AbortSignal
}

/**
 * Loads what settings name and refuses what they must not name, so that a setting that is wrong is known
 * before a database is created or its schema touched.
 *
 * @throws ConfigError
 */
export async function prepare(config: Config, families: readonly Family[]): Promise<Prepared> {
  requireOwnTypes(config.eventTypes, families)
  return { fileProcessor: await openFileProcessor(config) }
}

/**
 * Refuses a brand or a master key that does not fit an existing database, before its schema is touched.
 *
 * @throws ConfigError
 */
export async function inspectStored(
  stored: StoredFacts,
  { brand, masterKey }: Config,
  masterKeyFile: string | undefined,
): Promise<void> {
  await requireBrand(stored, brand)
  await requireMasterKey(masterKey, masterKeyFile, stored, createRandom())
}

/** Puts the platform over a store whose schema is up to date; nothing is sent yet. */
export async function openPlatform(opening: Opening): Promise<Opened> {
  const { config, log, families, store, masterKeyFile, baseUrl, ownHosts } = opening
  await keepBrand(store, config.brand)
  const keyring = await openKeyring(config.masterKey, masterKeyFile, store, createRandom())
  const createEgress = await EGRESS.undici()
  const egress = createEgress({
    policy: { schemes: ['https'], allow: config.webhookAllow, ownHosts },
    // Many webhooks may share an origin: waiting for a socket must not eat into an attempt's time.
    maxSocketsPerOrigin: config.dispatchConcurrency,
    maxSockets: config.dispatchSockets,
    // What takes longer than an attempt may serves nobody any more.
    connectTimeout: config.webhookTimeoutMs,
  })
  const metrics = createMetrics()
  const random = createRandom()
  const editor = await openEditor(config, { clock: clockOf(store), random, ownHosts })
  const platform = composePlatform({
    config,
    families,
    store,
    keyring,
    eventPositions: await openEventPositions(store, random),
    egress,
    nameLookup: await NAME_LOOKUPS.dns({ servers: config.dnsServers }),
    appBytes: opening.appBytes,
    billing: await BILLINGS[config.billing](),
    appsPlace: opening.appsPlace,
    deployer: await DEPLOYERS.hosted(),
    editor,
    fileProcessor: opening.fileProcessor,
    embedder: await openEmbedder(config, { clock: clockOf(store), ownHosts, log }),
    metrics,
    log,
    baseUrl,
  })
  await declareEventTypes(platform, config.eventTypes)
  const { changes } = store
  const traffic = createTraffic({ clock: platform.clock, changes, leaving: opening.leaving })
  metrics.watchBytes(() => bytesInProgress(traffic))
  return { platform, metrics, traffic }
}

const USES_EVERY = 30 * SECOND
/** Work that nobody told of is found by then, and what processes that are gone had claimed. */
const LOOK_EVERY = 5 * SECOND

/** Everything that goes on by itself: sending what is due, noting what was used and observed, retention. */
export interface Work {
  /** Hears of what is served of apps. */
  readonly observer: Observer
  /** Lets attempts under way end, hands claims back, and notes what is known. */
  stop(): Promise<void>
}

/** What a process does of the work on a store; who accepts without dispatching leaves sending to others. */
export interface Roles {
  readonly dispatch: boolean
}

export async function startWork(
  { platform, metrics }: Opened,
  config: Config,
  log: Log,
  roles: Roles,
): Promise<Work> {
  const { dispatcher } = platform.engine
  const stopWatching = keepWatch(platform, log)
  if (roles.dispatch) await dispatcher.start()
  const carries = roles.dispatch && platform.appBytes !== undefined
  const lease = config.workLease * SECOND
  const times = { lease, beat: lease / 4 }
  const every = Math.min(lease, LOOK_EVERY)
  const carrying = carries
    ? [
        keepEditing(platform, log, { ...EDIT_TIMES, ...times }, every),
        keepDeploying(platform, log, { ...DEPLOY_TIMES, ...times }, every),
        keepProcessing(platform, log, { ...FILE_TIMES, ...times }, every),
      ]
    : []
  const clearing = [keepClearing(platform, log), keepRemoving(platform, log)]
  const isAsked = carries && publicAppsDomain(platform) !== undefined
  const checking = isAsked ? [keepChecking(platform, log)] : []
  const observing = keepObserving(platform, log, metrics.dropped)
  const stopUses = keepUses(platform, log)
  const stopSealing = keepSealed(platform, log)
  const stopRetention = keepTimed('retention', (isStopping) =>
    purge(platform, config, log, isStopping),
  )
  const stopCollection = keepTimed('collection', (isStopping) => collect(platform, log, isStopping))
  return {
    observer: observing.observer,
    async stop() {
      stopWatching()
      const ending = [...carrying, ...checking, ...clearing].map((work) => work.stop())
      await Promise.all(ending)
      await Promise.all([stopRetention(), stopCollection(), stopUses(), stopSealing()])
      await observing.stop()
      await dispatcher.stop()
    },
  }
}

/**
 * Looks for work that was committed where nobody could tell of it: when the store says so, and now and
 * then, should nobody have said so. Then it also takes over what processes that are gone had claimed.
 */
function keepWatch({ store, engine, clock }: Platform, log: Log): () => void {
  function look(webhookIds?: readonly string[]): void {
    engine.dispatcher.refresh(webhookIds).catch(warn)
  }
  function warn(cause: unknown): void {
    log.warn({ err: cause }, 'what was committed elsewhere could not be looked at yet')
  }
  const stop = store.watch?.(look)
  if (stop === undefined) return () => undefined
  const timer = setInterval(() => {
    store.recover(clock.now()).then(() => {
      look()
    }, warn)
  }, LOOK_EVERY)
  timer.unref()
  return () => {
    clearInterval(timer)
    stop()
  }
}

async function purge(
  { store, clock }: Platform,
  { retentionDays, auditDays, accessDays }: Config,
  log: Log,
  isStopping: () => boolean,
): Promise<void> {
  const days = (count: number) => (count === 0 ? null : count * DAY)
  const access = accessDays * DAY
  const retention = { events: days(retentionDays), audit: days(auditDays), access }
  try {
    const purged = await purgeExpired(store, retention, clock.now(), isStopping)
    if (Object.keys(purged).length > 0) log.info({ purged }, 'what had expired was deleted')
  } catch (cause) {
    log.warn({ err: cause }, 'what has expired could not be deleted; the next hour tries again')
  }
}

async function collect(
  { store, appBytes, clock, wake }: Platform,
  log: Log,
  isStopping: () => boolean,
): Promise<void> {
  if (appBytes === undefined) return
  try {
    const collected = await collectApps(store, appBytes, clock.now(), {
      isStopping,
      failed: (app_id, err) => log.warn({ app_id, err }, 'an app could not be looked through'),
    })
    if (collected.apps > 0) wake.removed()
    if (collected.apps + collected.bytes > 0) {
      log.info({ collected }, 'what no app needs was deleted')
    }
  } catch (cause) {
    log.warn({ err: cause }, 'what no app needs could not be deleted; the next day tries again')
  }
}

/** Uses of keys are noted in groups, off the path of requests. */
function keepUses({ store, verifier }: Platform, log: Log): () => Promise<void> {
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
