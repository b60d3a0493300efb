import { readFileSync } from 'node:fs'
import type { Config } from '../config/config.ts'

/**
 * Descriptors reserved for everything else: the process and its libraries (about 40), the database (SQLite
 * opens three files per connection, PostgreSQL has two pools of 10), the control socket, processes that
 * read files, model servers.
 */
const RESERVED = 128
/** A connection of a client or visitor, and the file that it transfers. */
const PER_CONNECTION = 2
/** A delivery in progress, and one kept connection. */
const PER_DELIVERY = 2
/** Minimum of each pool, however few descriptors there are. */
const LEAST = 16

export type ConnectionSettings = Pick<
  Config,
  'connections' | 'appsConnections' | 'dispatchConcurrency' | 'dispatchSockets'
>

/** Maximum open files and sockets of this process (RLIMIT_NOFILE); undefined where unknown. */
export function readDescriptorLimit(path = '/proc/self/limits'): number | undefined {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync(path, 'utf8')) ?? []
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}

/**
 * Lowers the connection limits so that together they fit the process's descriptors: neither listener nor
 * the deliveries can then use up what another needs. Each gets an equal share, and what one does not need
 * goes to the others.
 *
 * @param limit undefined leaves the settings unchanged
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
    // Kept connections are closed only when there are more, while others are opened.
    dispatchSockets: Math.min(settings.dispatchSockets, deliveries - dispatchConcurrency),
  }
}

/** The largest equal share that fits when smaller wants take less. */
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
