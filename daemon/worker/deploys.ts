import type { Millis } from '../../lib/time.ts'
import { createDeployCarrier } from '../families/deploy/carry-out.ts'
import type { WorkTimes } from '../families/under-claim.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'
import type { WorkLoop } from './work-loop.ts'
import { keepWorking } from './work-loop.ts'

/** Deployments that one process carries out at once. */
const AT_ONCE = 2

/**
 * Carries out deployments as they come, until it is stopped; what is under way is then handed back.
 *
 * @param every what another process accepted, or had claimed when it died, is looked for this often
 */
export function keepDeploying(
  platform: Platform,
  log: Log,
  times: WorkTimes,
  every: Millis,
): Pick<WorkLoop, 'stop'> {
  const { store, clock, wake } = platform
  const carrier = createDeployCarrier(
    platform,
    (what, deployment_id, cause) => log.warn({ deployment_id, err: cause }, what),
    times,
  )
  const loop = keepWorking({
    name: 'deployments',
    isClaimable: () => store.deployments.isClaimable(clock.now()),
    takeUp: carrier.takeUp,
    most: AT_ONCE,
    every,
    clock,
    log,
  })
  const leave = wake.deploys.listen(() => {
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
