import { collectGarbage } from '../families/apps/garbage-collection.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'
import { keepTimed } from './retention.ts'

/** Deletes by night what no app needs any more, until it is stopped. */
export function startGarbageCollection(platform: Platform, log: Log): { stop(): Promise<void> } {
  return { stop: keepTimed('collection', (isStopping) => collectOnce(platform, log, isStopping)) }
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
      failed: (app_id, err) => log.warn({ app_id, err }, 'an app could not be looked through'),
    })
    if (collected.apps > 0) workAvailable.removed()
    if (collected.apps + collected.bytes > 0) {
      log.info({ collected }, 'what no app needs was deleted')
    }
  } catch (cause) {
    log.warn({ err: cause }, 'what no app needs could not be deleted; the next day tries again')
  }
}
