import type { Millis } from '../../lib/time.ts'
import { EditError } from '../../plugins/edits/contract.ts'
import { createCarrier } from '../families/edits/carry-out.ts'
import type { WorkTimes } from '../families/under-claim.ts'
import { EDITS_AT_ONCE } from '../limits/amounts.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'
import type { WorkLoop } from './work-loop.ts'
import { keepWorking } from './work-loop.ts'

/**
 * Carries out prompts as they come, until it is stopped; what is under way is then handed back.
 *
 * @param every what another process accepted, or had claimed when it died, is looked for this often
 */
export function keepEditing(
  platform: Platform,
  log: Log,
  times: WorkTimes,
  every: Millis,
): Pick<WorkLoop, 'stop'> {
  const { store, clock, wake } = platform
  const carrier = createCarrier(
    platform,
    (what, edit_id, cause) => {
      const why = cause instanceof EditError ? cause.internal : undefined
      log.warn({ edit_id, err: cause, why }, what)
    },
    times,
  )
  const loop = keepWorking({
    name: 'edits',
    isClaimable: () => store.edits.isClaimable(clock.now()),
    takeUp: carrier.takeUp,
    most: EDITS_AT_ONCE,
    every,
    clock,
    log,
  })
  const leave = wake.edits.listen(() => {
    loop.wake()
    carrier.look()
  })
  return {
    async stop() {
      leave()
      await loop.stop()
    },
  }
}
