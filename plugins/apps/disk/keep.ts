import { join } from 'node:path'
import type { Clock } from '../../../lib/engine/ports.ts'
import { kernelError } from '../../../lib/errors.ts'
import { nameOf, removeCopies } from './copies.ts'
import { onDisk, unlessMissing } from './faults.ts'
import { enterAll, foldersOf, syncFolder, tryRename } from './folders.ts'

/** Each attempt but the last met a drop or a remove that took the folder from under it. */
const MOST_ATTEMPTS = 100

/** Gives a finished file its name, durably, and takes the older names of the same bytes. */
export async function keep(
  root: string,
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
      // A folder that is not there any more was dropped after it held the file.
      for (const folder of [...folders].reverse()) await unlessMissing(() => syncFolder(folder))
      await onDisk(() => syncFolder(root))
      await removeCopies(root, appId, sha256.slice(0, 2), [sha256], kept_at)
      return
    }
  }
  throw kernelError('unavailable', { internal: `${path} could not be renamed` })
}
