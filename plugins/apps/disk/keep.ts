import { join } from 'node:path'
import type { Clock } from '../../../lib/engine/ports.ts'
import { kernelError } from '../../../lib/errors.ts'
import { nameOf, removeCopies } from './copies.ts'
import { onDisk, unlessMissing } from './faults.ts'
import { enterAll, foldersOf, identify, syncFolder, tryRename } from './folders.ts'

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
