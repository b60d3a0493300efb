import { DAY, SECOND } from '../../lib/time.ts'
import type { Config } from '../config/config.ts'
import type { Family } from '../operations/family.ts'
import type { FamilyJobTimes } from '../jobs/handler.ts'
import { runJobs } from '../jobs/run-jobs.ts'
import type { Observer } from '../hosting/site.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { startGarbageCollection } from '../worker/garbage-collection.ts'
import { startAppGarbageCollection } from '../worker/app-garbage-collection.ts'
import { keepObserving } from '../worker/observations.ts'
import { startReencryption } from '../worker/reencrypt.ts'
import { startPassageRemoval } from '../worker/removed.ts'
import { keepTimed, purgeExpired } from '../worker/retention.ts'

const USES_EVERY = 30 * SECOND
/** Work that nobody told of is found by then, and what processes that are gone had claimed. */
const LOOK_EVERY = 5 * SECOND

/** What a process does of the work on a store; who accepts without dispatching leaves sending to others. */
export interface Roles {
  readonly dispatch: boolean
}

/** Everything that goes on by itself: sending what is due, noting what was used and observed, retention. */
export interface Work {
  /** Hears of what is served of apps. */
  readonly observer: Observer
  /** Lets attempts under way end, hands claims back, and notes what is known. */
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

/** Starts the jobs of the families; none without a store of app files, which they work on. */
function startJobs({ platform, config, log, families }: Given): readonly Stoppable[] {
  if (platform.plugins.appBytes === undefined) return []
  return families
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

/** @throws when it cannot be found out what is due; then nothing goes on */
export async function startWork(given: Given, roles: Roles): Promise<Work> {
  const { platform, metrics, config, log, families } = given
  const { dispatcher } = platform.engine
  const stopWatching = keepWatch(platform, log)
  try {
    if (roles.dispatch) await dispatcher.start()
  } catch (cause) {
    stopWatching()
    throw cause
  }
  const working = [
    ...(roles.dispatch ? startJobs(given) : []),
    ...families.flatMap(({ name }) => BESIDE_JOBS[name]?.(given) ?? []),
  ]
  const observing = keepObserving(platform, log, metrics.dropped)
  const stopUses = keepUses(platform, log)
  const stopSealing = startReencryption(platform, log)
  const stopRetention = keepTimed('retention', (isStopping) =>
    purge(platform, config, log, isStopping),
  )
  return {
    observer: observing.observer,
    async stop() {
      stopWatching()
      await Promise.all(working.map((one) => one.stop()))
      await Promise.all([stopRetention(), stopUses(), stopSealing()])
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
