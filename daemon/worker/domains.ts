import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import { checkNext, dueBy } from '../families/settings/domains/check.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'
import type { WorkLoop } from './work-loop.ts'
import { keepWorking } from './work-loop.ts'

/** Domains that one process looks at at once: most of the time is waiting for name servers. */
const DOMAINS_AT_ONCE = 8

/** They are due on the minute at most. */
const LOOK_EVERY: Millis = 15 * SECOND

/** Looks at domains when they are due, until it is stopped. */
export function keepChecking(
  platform: Platform,
  log: Log,
  every: Millis = LOOK_EVERY,
): Pick<WorkLoop, 'stop'> {
  const { store, clock } = platform
  return keepWorking({
    name: 'domains',
    isClaimable: () => store.domains.isClaimable(dueBy(clock.now())),
    takeUp: (stopping) => checkNext(platform, stopping),
    most: DOMAINS_AT_ONCE,
    every,
    clock,
    log,
  })
}
