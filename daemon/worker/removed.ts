import { HOUR } from '../../lib/time.ts'
import { PASSAGES_AT_ONCE } from '../../plugins/platform/contract/files.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'
import type { WorkLoop } from './work-loop.ts'
import { keepWorking } from './work-loop.ts'

/**
 * Deletes the passages of files that were deleted, one portion after another: others write in between. What
 * is left when it stops goes with the next start, or within an hour by another process.
 */
export function startPassageRemoval(
  { store, clock, workAvailable }: Pick<Platform, 'store' | 'clock' | 'workAvailable'>,
  log: Log,
): Pick<WorkLoop, 'stop'> {
  const loop = keepWorking({
    name: 'removed files',
    isClaimable: async () => true,
    async claimNext() {
      const purged = await store.purge('removed_files', clock.now(), PASSAGES_AT_ONCE)
      return purged === PASSAGES_AT_ONCE
    },
    most: 1,
    every: HOUR,
    clock,
    log,
  })
  const leave = workAvailable.removed.listen(() => loop.notify())
  return {
    async stop() {
      leave()
      await loop.stop()
    },
  }
}
