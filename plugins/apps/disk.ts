import type { Clock } from '../../lib/engine/ports.ts'
import type { AppBytes } from './contract.ts'
import { listCopies, removeAll } from './disk/copies.ts'
import { openFolder, moveAway, namesIn } from './disk/folders.ts'
import { removeTree, keep, type SyncedFolders, sweep, write } from './disk/unfinished.ts'
import { findKept, readPart, readWhole } from './disk/read.ts'
import { isAppId, requireAppId, requireDigest, requireRange, takeIn, verified } from './intake.ts'

export interface DiskBytesOptions {
  /** Created when missing. */
  readonly folder: string
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Opens a folder, which several daemons may share, as storage of app bytes.
 *
 * `<folder>/<app>/<first two digits>/<other digits>.<kept_at>`: files 0600, folders 0700, and no link
 * inside is followed. A put writes a temporary file, makes it durable, and renames it.
 *
 * @throws KeyhookError `unavailable` when the folder cannot be used
 * @example
 * const bytes = await openDiskBytes({ folder: 'keyhook-data/apps', clock: { now: Date.now } })
 */
export async function openDiskBytes({ folder, clock }: DiskBytesOptions): Promise<AppBytes> {
  const root = await openFolder(folder)
  await sweep(root)
  const synced: SyncedFolders = new Set()
  return {
    manyProcesses: true,
    async put(appId, bytes, options) {
      requireAppId(appId)
      const intake = takeIn(bytes, options)
      const unfinished = await write(root, intake.chunks)
      const kept = intake.kept()
      try {
        options?.signal?.throwIfAborted()
        await keep(root, synced, clock, appId, kept.sha256, unfinished.path)
      } catch (cause) {
        await unfinished.remove().catch(() => undefined)
        throw cause
      }
      return kept
    },
    async get(appId, sha256) {
      requireAppId(appId)
      requireDigest(sha256)
      return readWhole(root, appId, sha256)
    },
    async open(appId, sha256, range) {
      requireAppId(appId)
      requireDigest(sha256)
      requireRange(range)
      const path = await findKept(root, appId, sha256)
      if (path === undefined) return undefined
      const chunks = readPart(root, appId, sha256, range, path)
      return range === undefined ? verified(sha256, chunks) : chunks
    },
    async *list(appId) {
      requireAppId(appId)
      await sweep(root)
      yield* listCopies(root, appId)
    },
    async remove(appId, sha256s, keptBefore) {
      requireAppId(appId)
      sha256s.forEach(requireDigest)
      return removeAll(root, appId, sha256s, keptBefore)
    },
    async drop(appId) {
      requireAppId(appId)
      const dropped = await moveAway(root, appId)
      if (dropped !== undefined) await removeTree(dropped)
    },
    async *apps() {
      for (const name of await namesIn(root)) if (isAppId(name)) yield name
    },
    close: async () => undefined,
  }
}
