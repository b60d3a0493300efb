import { readFileSync } from 'node:fs'
import type { Config } from '../config/config.ts'

/**
 * Descriptors that are left to everything else: the process itself and its libraries (about 40), the
 * database (SQLite opens three files a connection, PostgreSQL has two pools of 10), the control socket,
 * processes that read files, model servers.
 */
const RESERVED = 128
/** A connection of a client or visitor, and the file that is sent or received over it. */
const PER_CONNECTION = 2
/** A delivery in progress, and one connection that is kept for the next. */
const PER_DELIVERY = 2
/** What each pool keeps however few descriptors there are. */
const LEAST = 16

export type ConnectionSettings = Pick<
  Config,
  'connections' | 'appsConnections' | 'dispatchConcurrency' | 'dispatchSockets'
>

/** The most files and sockets this process may have open (RLIMIT_NOFILE); undefined where unknown. */
export function readDescriptorLimit(path = '/proc/self/limits'): number | undefined {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync(path, 'utf8')) ?? []
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}

/**
 * Lowers the limits of connections so that all of them together fit the process's descriptors: none of
 * the two listeners and the deliveries can then take what another needs. Each gets an equal share, and
 * what one does not need goes to the others.
 *
 * @param limit undefined leaves the settings as they are
 */
export function fitConnections<Settings extends ConnectionSettings>(
  settings: Settings,
  limit: number | undefined,
): Settings {
  if (limit === undefined) return settings
  const wanted = {
    api: PER_CONNECTION * settings.connections,
    apps: PER_CONNECTION * settings.appsConnections,
    deliveries: settings.dispatchSockets + settings.dispatchConcurrency,
  }
  const share = shareOf(Object.values(wanted), limit - RESERVED)
  const granted = (want: number, each: number): number =>
    Math.max(LEAST, Math.floor(Math.min(want, share) / each))
  const deliveries = granted(wanted.deliveries, 1)
  const dispatchConcurrency = Math.min(
    settings.dispatchConcurrency,
    Math.floor(deliveries / PER_DELIVERY),
  )
  return {
    ...settings,
    connections: Math.min(settings.connections, granted(wanted.api, PER_CONNECTION)),
    appsConnections: Math.min(settings.appsConnections, granted(wanted.apps, PER_CONNECTION)),
    dispatchConcurrency,
    // Connections that are kept are closed only once there are more, while others are opened.
    dispatchSockets: Math.min(settings.dispatchSockets, deliveries - dispatchConcurrency),
  }
}

/** The largest share that fits when whoever wants less takes less. */
function shareOf(wanted: readonly number[], total: number): number {
  let left = total
  const smallestFirst = [...wanted].sort((a, b) => a - b)
  for (const [index, want] of smallestFirst.entries()) {
    const share = Math.floor(left / (smallestFirst.length - index))
    if (want > share) return share
    left -= want
  }
  return Infinity
}
