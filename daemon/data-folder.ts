import { chmod, mkdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import sqlite3 from 'sqlite3'
import { ConfigError } from './config.ts'

/** The daemon's own folder, held by one process at a time. */
export interface DataFolder {
  readonly path: string
  file(name: string): string
  readonly controlSocket: string
  release(): Promise<void>
}

/** Where commands reach the daemon that works in a folder. */
export function controlSocketIn(folder: string): string {
  return join(folder, 'control.sock')
}

/**
 * Takes the folder for this process.
 *
 * The lock is one that the operating system drops with the process, so nothing is stale after a kill.
 *
 * @param create `serve` creates the folder; every other command needs one that is there
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
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ConfigError(`KEYHOOK_DATA_DIR ${folder} cannot be created: ${reason}`, { cause })
  })
  const release = await holdFile(join(folder, 'lock'), 'KEYHOOK_DATA_DIR')
  return {
    path: folder,
    file: (name) => join(folder, name),
    controlSocket: controlSocketIn(folder),
    release,
  }
}

/**
 * Holds a file for this process, and answers how to let it go.
 *
 * @param what is held by it, for the message of the refusal
 * @throws ConfigError when another process holds it
 */
export async function holdFile(file: string, what: string): Promise<() => Promise<void>> {
  const lock = await openLock(file, what)
  await chmod(file, 0o600)
  return () =>
    new Promise((done) => {
      lock.close(() => {
        done()
      })
    })
}

function openLock(file: string, what: string): Promise<sqlite3.Database> {
  return new Promise((resolve, reject) => {
    const lock = new sqlite3.Database(file, (opened) => {
      if (opened !== null) {
        reject(new ConfigError(`${what} cannot be used: ${opened.message}`))
        return
      }
      lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE', (refused) => {
        if (refused === null) resolve(lock)
        else
          lock.close(() => {
            reject(
              new ConfigError(`${what} is held by another process. One works with it at a time`),
            )
          })
      })
    })
  })
}
