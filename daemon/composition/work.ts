import { DAY, MINUTE, SECOND } from '../../lib/time.ts'
import type { ProcessorEvent } from '../../plugins/platform/contract/payments.ts'
import { createEventHandler } from '../billing/payments/events-job.ts'
import { createSweepHandler, enqueueSweep } from '../billing/sweep-job.ts'
import type { Config } from '../config/config.ts'
import type { Closers } from './closers.ts'
import { openInOrder } from './closers.ts'
import { openOutbox } from './outbox.ts'
import type { Family } from '../operations/family.ts'
import type { CreateHandler, FamilyJobTimes } from '../jobs/handler.ts'
import { runJobs } from '../jobs/runner.ts'
import type { Observer } from '../hosting/site.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { startSending } from '../sending/start.ts'
import { startGarbageCollection } from '../worker/garbage-collection.ts'
import { startAppGarbageCollection } from '../worker/app-garbage-collection.ts'
import { startObserving } from '../worker/observations.ts'
import { startOutbox } from '../worker/outbox.ts'
import { createOutboxStatus } from '../worker/outbox/status.ts'
import { startReencryption } from '../worker/reencrypt.ts'
import { startPassageRemoval } from '../worker/removed.ts'
import { deleteEndedPushes } from '../worker/ended-pushes.ts'
import { scheduleWork, purgeExpired } from '../worker/retention.ts'

const USES_EVERY = 30 * SECOND
/** Interval of looking for work without a notification, and for claims of processes that ended. */
const LOOK_EVERY = 5 * SECOND
/** A sweep that is due is found by then. */
const SWEEP_LOOK_EVERY = 15 * SECOND

/** The part of a process in the work on a store: without `dispatch`, other processes send and run jobs. */
export interface Roles {
  readonly dispatch: boolean
  /** Whether it ends holds and fetches from the payment processor. Default: as `dispatch`. */
  readonly billing?: boolean
}

/** Background work: deliveries, jobs, uses of keys, observations, retention. */
export interface Work {
  /** Receives what is served of apps. */
  readonly observer: Observer
  /** Waits for attempts in progress, releases claims, and records what was observed. */
  stop(): Promise<void>
}

interface Given {
  readonly platform: Platform
  readonly metrics: Metrics
  readonly config: Config
  readonly log: Log
  readonly families: readonly Family[]
}

interface Stoppable {
  stop(): Promise<void>
}

/** Background work of families besides their jobs, where they are served. */
const BESIDE_JOBS: Readonly<Record<string, (given: Given) => readonly Stoppable[]>> = {
  apps: ({ platform, log }) => [
    startAppGarbageCollection(platform, log),
    startGarbageCollection(platform, log),
  ],
  files: ({ platform, log }) => [startPassageRemoval(platform, log)],
}

/** Families that work on the files of apps. */
function worksOnApps(family: Family): boolean {
  return family.name === 'apps' || (family.needs ?? []).some(worksOnApps)
}

/** Starts the jobs of the families; without a store of app files, none of those that work on them. */
function startJobs({ platform, config, log, families }: Given): readonly Stoppable[] {
  const hasBytes = platform.plugins.appBytes !== undefined
  return families
    .filter((family) => hasBytes || !worksOnApps(family))
    .flatMap(({ jobs = [] }) => jobs)
    .filter(({ isServed }) => isServed === undefined || isServed(platform))
    .map(({ createHandler, times = timesOf(config) }) => {
      const { lease, every } = times
      return runJobs(platform, log, createHandler, { lease, beat: lease / 4 }, every)
    })
}

function timesOf({ workLease }: Config): FamilyJobTimes {
  const lease = workLease * SECOND
  return { lease, every: Math.min(lease, LOOK_EVERY) }
}

/** Holds have deadlines, whichever families are served. */
async function startBilling({
  platform,
  config,
  log,
  metrics,
}: Given): Promise<readonly Stoppable[]> {
  if (!platform.billing.metered) return []
  await enqueueSweep(platform)
  const { payments } = metrics
  const { lease, every } = timesOf(config)
  // Longer than its longest lease it must not be claimed.
  const sweepLease = Math.min(lease, MINUTE)
  const createSweep: CreateHandler<null, never> = (of, warn) =>
    createSweepHandler(of, warn, payments)
  const sweeping = runJobs(
    platform,
    log,
    createSweep,
    { lease: sweepLease, beat: sweepLease / 4 },
    Math.min(lease, SWEEP_LOOK_EVERY),
  )
  const { processing } = platform.billing
  if (processing === undefined) return [sweeping]
  const createHandler: CreateHandler<ProcessorEvent, never> = (of, warn) =>
    createEventHandler(of, warn, processing, payments)
  const times = { lease, beat: lease / 4 }
  return [sweeping, runJobs(platform, log, createHandler, times, every)]
}

/** Publishes the rows of the backend's outbox, where the settings name one. */
function startOutboxes({ platform, config, log, metrics, families }: Given): readonly Stoppable[] {
  const { outboxUrl } = config
  if (outboxUrl === undefined) return []
  const status = createOutboxStatus()
  metrics.watchOutbox(status)
  const hasAccounts = families.some(({ name }) => name === 'accounts')
  return [startOutbox({ open: () => openOutbox(outboxUrl), platform, hasAccounts, status, log })]
}

/** @throws what a part of it throws when it starts; those that had started are stopped then */
export async function startWork(given: Given, roles: Roles): Promise<Work> {
  const { observer, close } = await openInOrder((closers) => startParts(given, roles, closers))
  return { observer, stop: close }
}

async function startParts(
  given: Given,
  roles: Roles,
  closers: Closers,
): Promise<Pick<Work, 'observer'>> {
  const { platform, metrics, config, log, families } = given
  const { dispatcher } = platform.engine
  closers.push(() => dispatcher.stop())
  closers.push(keepWatch(platform, log))
  if (roles.dispatch) closers.push(await startSending(platform, log))
  const observing = startObserving(platform, log, metrics.dropped)
  closers.push(() => observing.stop())
  closers.push(keepUses(platform, log))
  closers.push(startReencryption(platform, log))
  closers.push(scheduleWork('retention', (isStopping) => purge(platform, config, log, isStopping)))
  const working: Stoppable[] = []
  // Together: each waits for what it has in progress.
  closers.push(() => Promise.all(working.map((one) => one.stop())))
  if (roles.dispatch) {
    working.push(...startJobs(given))
    working.push(...startOutboxes(given))
  }
  if (roles.billing ?? roles.dispatch) working.push(...(await startBilling(given)))
  for (const { name } of families) working.push(...(BESIDE_JOBS[name]?.(given) ?? []))
  return { observer: observing.observer }
}

/**
 * Looks for deliveries that other processes committed: when the store notifies of them, and at an interval,
 * in case a notification was lost. At the interval it also takes over claims of processes that ended.
 */
function keepWatch({ store, engine, clock }: Platform, log: Log): () => void {
  function look(webhookIds?: readonly string[]): void {
    engine.dispatcher.refresh(webhookIds).catch(warn)
  }
  function warn(cause: unknown): void {
    log.warn({ err: cause }, 'deliveries of other processes could not be read yet')
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
  platform: Platform,
  { retentionDays, auditDays, accessDays }: Config,
  log: Log,
  isStopping: () => boolean,
): Promise<void> {
  const { store, clock } = platform
  const days = (count: number) => (count === 0 ? null : count * DAY)
  const access = accessDays * DAY
  const retention = { events: days(retentionDays), audit: days(auditDays), access }
  try {
    const purged = await purgeExpired(store, retention, clock.now(), isStopping)
    const pushes = await deleteEndedPushes(platform, clock.now(), isStopping)
    if (pushes > 0) log.info({ pushes }, 'deleted the webhooks of ended tasks')
    if (Object.keys(purged).length > 0) log.info({ purged }, 'deleted expired rows')
  } catch (cause) {
    log.warn({ err: cause }, 'expired rows could not be deleted; retrying in the next hour')
  }
}

/** Records uses of keys in groups, outside of requests. */
function keepUses({ store, verifier }: Platform, log: Log): () => Promise<void> {
  async function flush(): Promise<void> {
    const uses = verifier.takeUses()
    if (uses.length === 0) return
    await store
      .write((tx) => tx.keys.touch(uses))
      .catch((cause: unknown) => {
        log.warn({ err: cause }, 'uses of keys could not be recorded')
      })
  }
  const timer = setInterval(() => void flush(), USES_EVERY)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await flush()
  }
}
