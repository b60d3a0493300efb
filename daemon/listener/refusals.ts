import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import { MINUTE } from '../../lib/time.ts'
import type { Log } from '../telemetry/log.ts'
import type { ConnectionCounts } from '../telemetry/metrics.ts'

type Why = keyof ConnectionCounts

/**
 * Receives a connection or request that was refused or closed.
 *
 * @param address its client's address, when that is the reason
 */
export type Refused = (why: Why, address?: string) => void

/** Settings of a listener's limits. */
interface LimitSettings {
  readonly total: string
  readonly perNetwork: string
}

export const API_LIMITS: LimitSettings = {
  total: 'KEYHOOK_CONNECTIONS',
  perNetwork: 'KEYHOOK_NETWORK_CONNECTIONS',
}

export const APPS_LIMITS: LimitSettings = {
  total: 'KEYHOOK_APPS_CONNECTIONS',
  perNetwork: 'KEYHOOK_APPS_NETWORK_CONNECTIONS',
}

/** Log messages, each at most once per minute. A slow reader does not concern an operator. */
function messagesOf({ total, perNetwork }: LimitSettings): Readonly<Partial<Record<Why, string>>> {
  return {
    connections: `connections refused: ${total} are open and in use`,
    evicted: `connections closed to admit others: ${total} or ${perNetwork} are open`,
    network_connections:
      `connections refused: one network has ${perNetwork} in use; ` +
      'if it is a proxy of yours, name it in KEYHOOK_TRUSTED_PROXIES',
    network_requests: `requests refused: one network has ${perNetwork} in progress`,
  }
}

/** Counts every refusal, and logs those that an operator can act on. */
export function reportRefusals(
  counts: ConnectionCounts,
  log: Pick<Log, 'warn'>,
  clock: Pick<Clock, 'steady'>,
  settings: LimitSettings,
): Refused {
  const messages = messagesOf(settings)
  const loggedAt = new Map<Why, Millis>()
  return (why, address) => {
    counts[why] += 1
    const message = messages[why]
    const now = clock.steady()
    if (message === undefined || now - (loggedAt.get(why) ?? -Infinity) < MINUTE) return
    loggedAt.set(why, now)
    log.warn(address === undefined ? {} : { address }, message)
  }
}
