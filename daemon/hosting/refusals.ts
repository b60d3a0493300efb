import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import { MINUTE } from '../../lib/time.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'

type Why = keyof Metrics['visitors']

/**
 * Hears of a visitor who was refused or cut off.
 *
 * @param address where they came from, where that is why
 */
export type Refused = (why: Why, address?: string) => void

/** What the log says, at most once a minute of each. Slow visitors are nothing to be told of. */
const MESSAGES: Readonly<Partial<Record<Why, string>>> = {
  connections: 'visitors are refused: KEYHOOK_APPS_CONNECTIONS are open',
  network_connections:
    'one network has KEYHOOK_APPS_NETWORK_CONNECTIONS open, and gets no more; ' +
    'if it is a proxy of yours, name it in KEYHOOK_TRUSTED_PROXIES',
  network_requests:
    'one network has KEYHOOK_APPS_NETWORK_CONNECTIONS requests under way, and gets no more',
}

/** Counts each, and logs what an operator may want to do something about. */
export function tellRefusals(
  counts: Metrics['visitors'],
  log: Pick<Log, 'warn'>,
  clock: Pick<Clock, 'steady'>,
): Refused {
  const told = new Map<Why, Millis>()
  return (why, address) => {
    counts[why] += 1
    const message = MESSAGES[why]
    const now = clock.steady()
    if (message === undefined || now - (told.get(why) ?? -Infinity) < MINUTE) return
    told.set(why, now)
    log.warn(address === undefined ? {} : { address }, message)
  }
}
