import { openSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { ConfigError } from '../config/setting.ts'

/** The control socket of the daemon that holds a folder. */
export function controlSocketIn(folder: string): string {
  return join(folder, 'control.sock')
}

/** Maximum path length of a socket on every kernel. */
const MAX_SOCKET_PATH = 100

/**
 * A path short enough for a socket: relative when that is shorter, on Linux through the folder's own
 * descriptor, which is short however deep the folder is.
 *
 * @throws ConfigError when neither is
 */
export function socketPath(path: string): string {
  const near = relative(process.cwd(), path)
  const shortest = near.length < path.length ? near : path
  if (Buffer.byteLength(shortest) <= MAX_SOCKET_PATH) return shortest
  if (process.platform !== 'linux') {
    throw new ConfigError('KEYHOOK_DATA_DIR is too long a path for its control socket (100 bytes)')
  }
  return `/proc/self/fd/${descriptorOf(dirname(path))}/${basename(path)}`
}

const descriptors = new Map<string, number>()

/** Open as long as the process, because the path is only valid that long. */
function descriptorOf(folder: string): number {
  const known = descriptors.get(folder)
  const descriptor = known ?? openSync(folder, 'r')
  descriptors.set(folder, descriptor)
  return descriptor
}
