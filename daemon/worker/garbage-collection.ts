import { collectGarbage } from '../families/apps/garbage-collection.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'
import { scheduleWork } from './retention.ts'

/** Collects garbage of all apps every night, until it is stopped. */
export function startGarbageCollection(platform: Platform, log: Log): { stop(): Promise<void> } {
  return {
    stop: scheduleWork('collection', (isStopping) => collectOnce(platform, log, isStopping)),
  }
}

async function collectOnce(
  { store, plugins: { appBytes }, clock, workAvailable }: Platform,
  log: Log,
  isStopping: () => boolean,
): Promise<void> {
  if (appBytes === undefined) return
  try {
    const collected = await collectGarbage(store, appBytes, clock.now(), {
      isStopping,
      failed: (app_id, err) => log.warn({ app_id, err }, 'garbage collection of an app failed'),
    })
    if (collected.apps > 0) workAvailable.removed()
    if (collected.apps + collected.bytes > 0) {
      log.info({ collected }, 'deleted archived apps and unreferenced blobs')
    }
  } catch (cause) {
    log.warn({ err: cause }, 'garbage collection failed; retrying tomorrow')
  }
}
