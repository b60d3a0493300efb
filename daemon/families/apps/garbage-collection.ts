import type { Instant, Millis } from '../../../lib/time.ts'
import { HOUR } from '../../../lib/time.ts'
import type { AppBytes } from '../../../plugins/apps/contract.ts'
import type { PlatformStore } from '../../../plugins/platform/contract.ts'
import { namedByReleases } from '../../trees/releases.ts'
import { namedByTrees } from '../../trees/revisions.ts'

/** Grace period of unreferenced bytes: bytes are stored before the row that references them. */
export const UNNAMED: Millis = HOUR

/** Apps per unit of work or query. */
const AT_ONCE = 100

export interface GarbageCollectionOptions {
  /** Checked between apps. */
  readonly isStopping?: () => boolean
  /**
   * Called for an app that cannot be read, such as one with a damaged tree; by default the error ends the
   * round.
   */
  readonly failed?: (appId: string, cause: unknown) => void
}

function rethrow(_appId: string, cause: unknown): never {
  throw cause
}

/** What one round deleted. */
export interface CollectedGarbage {
  /** Archived apps whose retention ended. */
  readonly apps: number
  /** Unreferenced blobs. */
  readonly bytes: number
}

/**
 * Deletes archived apps whose retention ended, and blobs that no revision, retained release or knowledge
 * file of their app references.
 *
 * It reads the trees of every revision of every app with blobs that are old enough. The next round
 * continues after an interruption.
 */
export async function collectGarbage(
  store: Pick<PlatformStore, 'apps' | 'deployments' | 'files' | 'write'>,
  bytes: AppBytes,
  now: Instant,
  { isStopping = () => false, failed = rethrow }: GarbageCollectionOptions = {},
): Promise<CollectedGarbage> {
  const apps = await purgeApps(store, now, isStopping)
  let removed = 0
  for await (const id of bytes.apps()) {
    if (isStopping()) break
    try {
      removed += await collectAppGarbage(store, bytes, id, now)
    } catch (cause) {
      failed(id, cause)
    }
  }
  return { apps, bytes: removed }
}

async function purgeApps(
  store: Pick<PlatformStore, 'apps' | 'write'>,
  now: Instant,
  isStopping: () => boolean,
): Promise<number> {
  let purged = 0
  for (let full = true; full && !isStopping();) {
    const due = await store.apps.due(now, AT_ONCE)
    for (const id of due) if (await store.write((tx) => tx.apps.purge(id, now))) purged++
    full = due.length === AT_ONCE
  }
  return purged
}

/**
 * Deletes the unreferenced blobs of one app, and returns their number.
 *
 * @param mostTrees leaves an app with more trees unchanged. Default: no limit
 */
export async function collectAppGarbage(
  store: Pick<PlatformStore, 'apps' | 'deployments' | 'files'>,
  bytes: AppBytes,
  id: string,
  now: Instant,
  mostTrees = Infinity,
): Promise<number> {
  const before = now - UNNAMED
  // Listed before the rows are read: bytes stored later are referenced later.
  const stale: string[] = []
  let all = 0
  for await (const { sha256, kept_at } of bytes.list(id)) {
    all++
    if (kept_at < before) stale.push(sha256)
  }
  if (await store.apps.exists(id)) {
    return removeUnnamed(store, bytes, { id, stale, before, mostTrees })
  }
  // An empty folder may belong to a put in progress.
  if (all === 0 || stale.length < all) return 0
  await bytes.drop(id)
  return all
}

/** Blobs of an app that are old enough. */
interface Stale {
  readonly id: string
  readonly stale: readonly string[]
  readonly before: Instant
  readonly mostTrees: number
}

async function removeUnnamed(
  { apps, deployments, files }: Pick<PlatformStore, 'apps' | 'deployments' | 'files'>,
  bytes: AppBytes,
  { id, stale, before, mostTrees }: Stale,
): Promise<number> {
  if (stale.length === 0) return 0
  const inTrees = await namedByTrees(apps, bytes, id, mostTrees)
  if (inTrees === undefined) return 0
  const outside = stale.filter((sha256) => !inTrees.has(sha256))
  if (outside.length === 0) return 0
  const inFiles = new Set(await files.named(id, outside))
  const inReleases = await namedByReleases(deployments, bytes, id)
  const unnamed = outside.filter((sha256) => !inFiles.has(sha256) && !inReleases.has(sha256))
  return unnamed.length === 0 ? 0 : bytes.remove(id, unnamed, before)
}
