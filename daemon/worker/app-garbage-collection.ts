import type { Millis } from '../../lib/time.ts'
import { MINUTE } from '../../lib/time.ts'
import { UNNAMED, collectAppGarbage } from '../families/apps/garbage-collection.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'

/** How long after it was told of an app is looked through: by then its bytes can be judged. */
const AFTER: Millis = UNNAMED + MINUTE
/** Apps that are remembered; the others are looked through by night. */
const MOST_APPS = 1000
/** Trees that a look reads: who has more waits for the night. */
const MOST_TREES = 200

/** An app by when it was first told of, and whether it was since. */
interface Scheduled {
  readonly at: Millis
  again: boolean
}

/**
 * Takes away what a deleted file, or an upload that came to nothing, has left, about an hour later: before
 * that nobody can tell it from what another upload is about to name. What this process forgets when it
 * stops is taken by night.
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
      if (bytes > 0) log.info({ app_id: appId, bytes }, 'what nothing names was deleted')
    } catch (err) {
      log.warn({ app_id: appId, err }, 'an app could not be looked through; the night tries again')
    }
  }

  const leave = workAvailable.bytes.listen((appId) => {
    const known = scheduled.get(appId)
    // What came since then cannot be judged yet when its turn comes.
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
