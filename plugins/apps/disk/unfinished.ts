import { randomUUID } from 'node:crypto'
import { lstat, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { HOUR } from '../../../lib/time.ts'
import { nameOf, removeCopies, removeFile } from './copies.ts'
import {
  codeOf,
  DROPPED,
  enterAll,
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

/** A file that nobody else looks at until it is renamed. */
export interface Unfinished {
  readonly path: string
  remove(): Promise<void>
}

/** Writes all chunks, durably; when it throws nothing is left. */
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

/** Clears away what was left by those who were killed. */
export async function sweep(root: string): Promise<void> {
  for (const name of await namesIn(root, DROPPED)) await clear(join(root, DROPPED, name))
  const names = await namesIn(root, UNFINISHED)
  if (names.length === 0) return
  const now = await timeOf(root)
  for (const name of names) {
    const path = join(root, UNFINISHED, name)
    const found = await unlessMissing(() => lstat(path))
    // What is being written is touched by every chunk.
    if (found !== undefined && found.mtimeMs < now - HOUR) await clear(path)
  }
}

/**
 * Removes a file or a folder with all in it; of links the link. Others may be about the same, and a put
 * that had found the folder before it was taken away may still add to it.
 */
export async function clear(path: string): Promise<void> {
  await onDisk(() =>
    rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 10 }).catch(
      (cause: unknown) => {
        if (codeOf(cause) !== 'ENOENT') throw cause
      },
    ),
  )
}

/**
 * What the file system itself takes for now, its clock may be another machine's; before all time when
 * nothing can be written to tell.
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

/** Folders whose own names are durable: to sync what holds them costs as much as the file does. */
export type Settled = Set<string>

/** Before all of them are forgotten. */
const MOST_SETTLED = 100_000

/** Each attempt but the last met a drop or a remove that took the folder from under it. */
const MOST_ATTEMPTS = 100

/** Gives a finished file its name, durably, and takes the older names of the same bytes. */
export async function keep(
  root: string,
  settled: Settled,
  clock: Pick<Clock, 'now'>,
  appId: string,
  sha256: string,
  path: string,
): Promise<void> {
  const folders = foldersOf(root, appId, sha256)
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    await unlessMissing(() => enterAll(folders))
    const kept_at = clock.now()
    if (await tryRename(path, join(folders[1], nameOf(sha256, kept_at)))) {
      await settle(root, settled, folders)
      await removeCopies(root, appId, sha256.slice(0, 2), [sha256], kept_at)
      return
    }
  }
  throw kernelError('unavailable', { internal: `${path} could not be renamed` })
}

/**
 * Makes the name durable, and those of the folders on the way to it; at the same time, for the file system
 * writes together what is asked for together. A folder that is not there any more was dropped after it
 * held the file.
 */
async function settle(
  root: string,
  settled: Settled,
  [app, inner]: readonly [string, string],
): Promise<void> {
  const known = (path: string): Promise<string | undefined> => unlessMissing(() => identify(path))
  // Who they are is asked first: one that takes the place of another meanwhile is not settled by this.
  const folders = [await known(inner), await known(app)]
  const [isInnerSettled, isAppSettled] = folders.map((one) => one && settled.has(one))
  await Promise.all([
    unlessMissing(() => syncFolder(inner)),
    isInnerSettled || unlessMissing(() => syncFolder(app)),
    isAppSettled || onDisk(() => syncFolder(root)),
  ])
  if (settled.size >= MOST_SETTLED) settled.clear()
  for (const folder of folders) if (folder) settled.add(folder)
}
