import type { Millis } from '../../lib/time.ts'
import type { FileTimes } from '../families/files/process.ts'
import { processNext } from '../families/files/process.ts'
import { FILES_AT_ONCE } from '../limits/amounts.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'
import type { WorkLoop } from './work-loop.ts'
import { keepWorking } from './work-loop.ts'

/**
 * Processes files as they come, until it is stopped; what is under way is then given back.
 *
 * @param every what another process accepted, or had claimed when it died, is looked for this often
 */
export function keepProcessing(
  platform: Platform,
  log: Log,
  times: FileTimes,
  every: Millis,
): Pick<WorkLoop, 'stop'> {
  const { store, clock, wake } = platform
  const loop = keepWorking({
    name: 'files',
    isClaimable: () => store.files.isClaimable(clock.now()),
    takeUp: (stopping) =>
      processNext(
        platform,
        (what, file_id, cause) => log.warn({ file_id, err: cause }, what),
        times,
        stopping,
      ),
    most: FILES_AT_ONCE,
    every,
    clock,
    log,
  })
  const leave = wake.files.listen(() => loop.wake())
  return {
    async stop() {
      leave()
      await loop.stop()
    },
  }
}
