import type { Millis } from '../../lib/time.ts'
import { MINUTE } from '../../lib/time.ts'
import { UNNAMED, collectAppGarbage } from '../families/apps/garbage-collection.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'

/** Delay from the notification of an app to its collection: its bytes are old enough then. */
const AFTER: Millis = UNNAMED + MINUTE
/** Maximum scheduled apps; the nightly collection covers the others. */
const MOST_APPS = 1000
/** Maximum trees of an app; one with more is left to the nightly collection. */
const MOST_TREES = 200

/** When an app was first notified, and whether it was again since. */
interface Scheduled {
  readonly at: Millis
  again: boolean
}

/**
 * Deletes unreferenced blobs of deleted files and failed uploads about an hour later: before that, another
 * upload may be about to reference them. The nightly collection covers apps that this process forgets when
 * it stops.
 */
export function startAppGarbageCollection(platform: Platform, log: Log): { stop(): Promise<void> } {
  const { store, clock, workAvailable } = platform
  const { appBytes } = platform.plugins
  const scheduled = new Map<string, Scheduled>()
  let looking: Promise<void> | undefined
  let cancel = (): void => undefined
  let isStopped = false

  function wait(): void {
    const [first] = scheduled.values()
    if (first === undefined || isStopped || looking !== undefined) return
    cancel()
    cancel = clock.after(first.at + AFTER - clock.steady(), () => {
      looking = look().finally(() => {
        looking = undefined
        wait()
      })
    })
  }

  async function look(): Promise<void> {
    const now = clock.steady()
    for (const [appId, { at, again }] of scheduled) {
      if (isStopped || at + AFTER > now) return
      scheduled.delete(appId)
      if (again) scheduled.set(appId, { at: now, again: false })
      await collect(appId)
    }
  }

  async function collect(appId: string): Promise<void> {
    if (appBytes === undefined) return
    try {
      const bytes = await collectAppGarbage(store, appBytes, appId, clock.now(), MOST_TREES)
      if (bytes > 0) log.info({ app_id: appId, bytes }, 'deleted unreferenced blobs')
    } catch (err) {
      log.warn(
        { app_id: appId, err },
        'garbage collection of an app failed; the nightly collection retries',
      )
    }
  }

  const leave = workAvailable.bytes.listen((appId) => {
    const known = scheduled.get(appId)
    // Later blobs are not old enough yet when it is collected.
    if (known !== undefined) known.again = true
    else if (scheduled.size < MOST_APPS) scheduled.set(appId, { at: clock.steady(), again: false })
    wait()
  })
  return {
    async stop() {
      leave()
      isStopped = true
      cancel()
      await looking
    },
  }
}
