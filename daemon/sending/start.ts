import type { Dispatcher } from '../../lib/engine/dispatcher.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'
import { findPause } from './paused.ts'

/** Interval of looking whether a pause has ended, in every process of the database. */
const LOOK_EVERY: Millis = SECOND

/** Starts the dispatcher once nothing holds deliveries back. The returned function stops waiting for it. */
export async function startSending(
  { store, clock, engine }: Pick<Platform, 'store' | 'clock' | 'engine'>,
  log: Log,
): Promise<() => Promise<void>> {
  const dispatcher: Dispatcher = engine.dispatcher
  const pause = await findPause(store)
  if (pause === undefined) {
    await dispatcher.start()
    return async () => undefined
  }
  log.warn(
    { pause },
    'sending.paused since this database was restored: `keyhook sending status` shows what waits, `keyhook sending resume` sends it',
  )
  let isStopped = false
  let cancel = (): void => undefined
  let looking: Promise<void> | undefined
  const wait = (): void => {
    const lookNow = (): void => {
      looking = look()
    }
    cancel = clock.after(LOOK_EVERY, lookNow, 'background')
  }
  async function look(): Promise<void> {
    try {
      if ((await findPause(store)) !== undefined) return
      if (isStopped) return
      await dispatcher.start()
      isStopped = true
      log.info({ pause }, 'sending.resumed')
    } catch (cause) {
      log.warn({ err: cause }, 'whether sending is paused could not be read; retrying')
    } finally {
      if (!isStopped) wait()
    }
  }
  wait()
  return async () => {
    isStopped = true
    cancel()
    await looking
  }
}
