import { existsSync, rmSync } from 'node:fs'
import { lstat, mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config.ts'
import { INSTALLATION_FILE } from '../machine/installation.ts'
import { holdFile } from '../machine/lock-file.ts'

/** What only a folder with data of a daemon has. */
const SIGNS = ['keyhook.db', INSTALLATION_FILE]

/**
 * Refuses to begin where real data is: somebody who starts a test by mistake there would take it for the service.
 *
 * @throws ConfigError
 */
export function requireNoData({
  databaseUrl,
  outboxUrl,
  dataDir,
}: Pick<Config, 'databaseUrl' | 'outboxUrl' | 'dataDir'>): void {
  if (databaseUrl !== undefined) {
    throw new ConfigError(
      'KEYHOOK_DATABASE_URL cannot be set with --test, which keeps everything in a temporary folder. Unset it',
    )
  }
  if (outboxUrl !== undefined) {
    throw new ConfigError(
      'KEYHOOK_OUTBOX_URL cannot be set with --test, which would take the events of the outbox and forget them. Unset it',
    )
  }
  const folder = resolve(dataDir)
  const sign = SIGNS.find((name) => existsSync(join(folder, name)))
  if (sign === undefined) return
  throw new ConfigError(
    `KEYHOOK_DATA_DIR ${folder} has the data of a daemon (${sign}), and --test does not start next to it. ` +
      'Set it to a folder that does not exist, or start in another folder',
  )
}

/** A folder in memory, where the system has one. */
const MEMORY = '/dev/shm'
/** Containers have 64 MB there by default, which files of knowledge and apps would fill. */
const LEAST_MEMORY = 256 * 1_048_576

const PREFIX = 'keyhook-test-'

/** Creates the data folder of one process, which is removed when the process exits. */
export async function createTestFolder(): Promise<string> {
  const parent = (await hasMemory()) ? MEMORY : tmpdir()
  await removeAbandoned(parent)
  const folder = await mkdtemp(join(parent, PREFIX))
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

/** Removes what killed processes left. */
async function removeAbandoned(parent: string): Promise<void> {
  const names = (await readdir(parent)).filter((name) => name.startsWith(PREFIX))
  for (const folder of names.map((name) => join(parent, name))) {
    if (!(await isOwn(folder))) continue
    // Before it has this file, its process may not have locked it yet.
    if (!existsSync(join(folder, INSTALLATION_FILE))) continue
    const held = { name: folder, otherwise: 'leave it' }
    const release = await holdFile(join(folder, 'lock'), held).catch(() => undefined)
    if (release === undefined) continue
    await release()
    await rm(folder, { recursive: true, force: true })
  }
}

/** The parent is everybody's: a folder that another user made may lead elsewhere. */
async function isOwn(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined)
  if (found === undefined || !found.isDirectory()) return false
  return found.uid === process.getuid?.() && (found.mode & 0o022) === 0
}

async function hasMemory(): Promise<boolean> {
  const free = await statfs(MEMORY).catch(() => undefined)
  return free !== undefined && free.bavail * free.bsize >= LEAST_MEMORY
}

/** Removes everything of a folder but the lock by which its process holds it. */
export async function emptyTestFolder(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => !name.startsWith('lock'))
  await Promise.all(names.map((name) => rm(join(folder, name), { recursive: true, force: true })))
}
