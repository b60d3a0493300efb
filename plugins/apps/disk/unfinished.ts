import { randomUUID } from 'node:crypto'
import { lstat, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { HOUR } from '../../../lib/time.ts'
import { nameOf, removeCopies, removeFile } from './copies.ts'
import {
  codeOf,
  DROPPED,
  ensureFolders,
  foldersOf,
  identify,
  namesIn,
  onDisk,
  syncFolder,
  tryRename,
  UNFINISHED,
  unlessMissing,
} from './folders.ts'
import type { Clock } from '../../../lib/engine/ports.ts'
import { kernelError } from '../../../lib/errors.ts'

/** A temporary file, invisible until it is renamed. */
export interface Unfinished {
  readonly path: string
  remove(): Promise<void>
}

/** Writes all chunks durably; when it throws nothing is left. */
export async function write(root: string, chunks: AsyncIterable<Uint8Array>): Promise<Unfinished> {
  const path = join(root, UNFINISHED, randomUUID())
  const handle = await onDisk(() => open(path, 'wx', 0o600))
  const remove = async (): Promise<void> => {
    await removeFile(path)
  }
  try {
    try {
      for await (const chunk of chunks) await onDisk(() => handle.writeFile(chunk))
      await onDisk(() => handle.sync())
    } finally {
      await handle.close()
    }
  } catch (cause) {
    await remove().catch(() => undefined)
    throw cause
  }
  return { path, remove }
}

/** Deletes what killed processes left. */
export async function sweep(root: string): Promise<void> {
  for (const name of await namesIn(root, DROPPED)) await removeTree(join(root, DROPPED, name))
  const names = await namesIn(root, UNFINISHED)
  if (names.length === 0) return
  const now = await timeOf(root)
  for (const name of names) {
    const path = join(root, UNFINISHED, name)
    const found = await unlessMissing(() => lstat(path))
    // Every chunk updates the time of a file that is being written.
    if (found !== undefined && found.mtimeMs < now - HOUR) await removeTree(path)
  }
}

/**
 * Removes a file, a link, or a folder with its content. Other processes may do the same, and a put that found
 * the folder before it was moved may still add to it.
 */
export async function removeTree(path: string): Promise<void> {
  await onDisk(() =>
    rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 10 }).catch(
      (cause: unknown) => {
        if (codeOf(cause) !== 'ENOENT') throw cause
      },
    ),
  )
}

/**
 * The current time of the file system, whose clock may be another machine's; -Infinity when nothing can be
 * written.
 */
async function timeOf(root: string): Promise<number> {
  const probe = await write(root, nothing()).catch(() => undefined)
  if (probe === undefined) return -Infinity
  const found = await unlessMissing(() => lstat(probe.path))
  await probe.remove()
  return found?.mtimeMs ?? -Infinity
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  yield* []
}

/** Folders whose own names are durable: syncing their parent costs as much as the file does. */
export type SyncedFolders = Set<string>

/** Beyond it all are forgotten. */
const MAX_SYNCED = 100_000

/** An attempt fails when a drop or a remove deletes the folder meanwhile. */
const MAX_ATTEMPTS = 100

/** Renames a finished file durably, and removes the older names of the same bytes. */
export async function keep(
  root: string,
  synced: SyncedFolders,
  clock: Pick<Clock, 'now'>,
  appId: string,
  sha256: string,
  path: string,
): Promise<void> {
  const folders = foldersOf(root, appId, sha256)
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const isFirst = await unlessMissing(() => ensureFolders(folders))
    const kept_at = clock.now()
    if (await tryRename(path, join(folders[1], nameOf(sha256, kept_at)))) {
      await syncNames(root, synced, folders)
      // In a folder that this put created there are no older names, but of a put at the same time: the next one, or a
      // remove, takes those.
      if (isFirst !== true) {
        await removeCopies(root, appId, sha256.slice(0, 2), [sha256], kept_at)
      }
      return
    }
  }
  throw kernelError('unavailable', { internal: `${path} could not be renamed` })
}

/**
 * Makes the name durable, and those of its folders; concurrently, since the file system writes concurrent
 * syncs together. A missing folder was dropped after it held the file.
 */
async function syncNames(
  root: string,
  synced: SyncedFolders,
  [app, inner]: readonly [string, string],
): Promise<void> {
  const known = (path: string): Promise<string | undefined> => unlessMissing(() => identify(path))
  // Identified before the sync: a folder that replaces another meanwhile is not synced by this.
  const folders = [await known(inner), await known(app)]
  const [isInnerSynced, isAppSynced] = folders.map((one) => one && synced.has(one))
  await Promise.all([
    unlessMissing(() => syncFolder(inner)),
    isInnerSynced || unlessMissing(() => syncFolder(app)),
    isAppSynced || onDisk(() => syncFolder(root)),
  ])
  if (synced.size >= MAX_SYNCED) synced.clear()
  for (const folder of folders) if (folder) synced.add(folder)
}
