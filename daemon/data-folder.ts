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
 * @throws ConfigError when another process holds it, or it is missing
 */
export async function takeDataFolder(
  path: string,
  create: 'create' | 'must exist',
): Promise<DataFolder> {
  const folder = resolve(path)
  if (create === 'create') await mkdir(folder, { recursive: true, mode: 0o700 })
  const found = await stat(folder).catch(() => undefined)
  if (found?.isDirectory() !== true) {
    throw new ConfigError(`KEYHOOK_DATA_DIR ${folder} is no folder. Start the daemon there first`)
  }
  const lockFile = join(folder, 'lock')
  const lock = await openLock(lockFile)
  await chmod(lockFile, 0o600)
  return {
    path: folder,
    file: (name) => join(folder, name),
    controlSocket: controlSocketIn(folder),
    release: () =>
      new Promise((done) => {
        lock.close(() => {
          done()
        })
      }),
  }
}

function openLock(file: string): Promise<sqlite3.Database> {
  return new Promise((resolve, reject) => {
    const lock = new sqlite3.Database(file, (opened) => {
      if (opened !== null) {
        reject(new ConfigError(`KEYHOOK_DATA_DIR cannot be used: ${opened.message}`))
        return
      }
      lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE', (refused) => {
        if (refused === null) resolve(lock)
        else
          lock.close(() => {
            reject(taken())
          })
      })
    })
  })
}

function taken(): ConfigError {
  return new ConfigError(
    'KEYHOOK_DATA_DIR is held by another daemon. One process works in a folder',
  )
}
