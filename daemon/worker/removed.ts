import { HOUR } from '../../lib/time.ts'
import { PASSAGES_AT_ONCE } from '../../plugins/platform/contract/files.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'
import type { WorkLoop } from '../jobs/work-loop.ts'
import { startWorkLoop } from '../jobs/work-loop.ts'

/**
 * Deletes the passages of deleted files in batches, so that others can write in between. The next start, or
 * another process within an hour, deletes what is left when it stops.
 */
export function startPassageRemoval(
  { store, clock, workAvailable }: Pick<Platform, 'store' | 'clock' | 'workAvailable'>,
  log: Log,
): Pick<WorkLoop, 'stop'> {
  const loop = startWorkLoop({
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
