import { mkdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { ConfigError } from '../config/config.ts'
import { controlSocketIn } from '../listener/control-socket.ts'
import { holdFile } from './lock-file.ts'

/** The daemon's folder, held by one process at a time. */
export interface DataFolder {
  readonly path: string
  file(name: string): string
  readonly controlSocket: string
  release(): Promise<void>
}

/**
 * Takes the folder for this process.
 *
 * The operating system drops the lock with the process, so nothing is stale after a kill.
 *
 * @param create `serve` creates the folder; every other command needs an existing one
 * @throws ConfigError when another process holds it, it is missing, or is not a folder
 */
export async function takeDataFolder(
  path: string,
  create: 'create' | 'must exist',
): Promise<DataFolder> {
  const folder = resolve(path)
  const found = await stat(folder).catch(() => undefined)
  if (found?.isDirectory() === false) {
    throw new ConfigError(`KEYHOOK_DATA_DIR ${folder} is not a folder. Set it to a folder`)
  }
  if (found === undefined && create === 'must exist') {
    throw new ConfigError(`KEYHOOK_DATA_DIR ${folder} does not exist. Start the daemon there first`)
  }
  await makeFolder(folder).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ConfigError(`KEYHOOK_DATA_DIR ${folder} cannot be created: ${reason}`, { cause })
  })
  const release = await holdFile(join(folder, 'lock'), {
    name: `KEYHOOK_DATA_DIR ${folder}`,
    otherwise: 'set KEYHOOK_DATA_DIR to another folder',
  })
  return {
    path: folder,
    file: (name) => join(folder, name),
    controlSocket: controlSocketIn(folder),
    release,
  }
}

/**
 * Creates a folder and its missing parents. Node's own `recursive` never returns for an existing folder
 * that returns ENOENT for everything created in it, such as /proc.
 */
async function makeFolder(folder: string): Promise<void> {
  try {
    await makeOne(folder)
  } catch (cause) {
    const above = dirname(folder)
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT' || above === folder) throw cause
    await makeFolder(above)
    await makeOne(folder)
  }
}

async function makeOne(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch(async (cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EEXIST' || !(await stat(folder)).isDirectory()) throw cause
  })
}
