import type { Instant, Millis } from '../../../lib/time.ts'
import { HOUR } from '../../../lib/time.ts'
import type { AppBytes } from '../../../plugins/apps/contract.ts'
import type { PlatformStore } from '../../../plugins/platform/contract.ts'
import type { RevisionRecord } from '../../../plugins/platform/contract/apps.ts'
import { namedByReleases } from '../../trees/releases.ts'
import { loadTree } from '../../trees/keep.ts'

/** What nobody names yet may be named soon: bytes come before the row that names them. */
export const UNNAMED: Millis = HOUR

/** Apps that are purged, or looked at, by one unit of work or question. */
const AT_ONCE = 100

export interface GarbageCollectionOptions {
  /** Asked between apps. */
  readonly isStopping?: () => boolean
  /** Told of an app that cannot be looked through, such as one with a damaged tree; by default it ends the round. */
  readonly failed?: (appId: string, cause: unknown) => void
}

function rethrow(_appId: string, cause: unknown): never {
  throw cause
}

/** What one round took away. */
export interface CollectedGarbage {
  /** Apps that were archived for long enough. */
  readonly apps: number
  /** Bytes that nothing names, by their digests. */
  readonly bytes: number
}

/**
 * Deletes archived apps whose time has come, and bytes that neither a revision nor a release that is kept
 * nor a knowledge-base file of their app names.
 *
 * It reads the trees of every revision of every app with bytes that are old enough. What stops it half-way
 * leaves the rest to the next round.
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
 * Deletes the bytes of one app that nothing names, and answers how many went.
 *
 * @param mostTrees an app with more trees than this is left as it is. Default: any number
 */
export async function collectAppGarbage(
  store: Pick<PlatformStore, 'apps' | 'deployments' | 'files'>,
  bytes: AppBytes,
  id: string,
  now: Instant,
  mostTrees = Infinity,
): Promise<number> {
  const before = now - UNNAMED
  // Before the rows are read: what is kept later is named later.
  const stale: string[] = []
  let all = 0
  for await (const { sha256, kept_at } of bytes.list(id)) {
    all++
    if (kept_at < before) stale.push(sha256)
  }
  if (await store.apps.exists(id)) {
    return removeUnnamed(store, bytes, { id, stale, before, mostTrees })
  }
  // A folder that is empty may be of a put that is under way.
  if (all === 0 || stale.length < all) return 0
  await bytes.drop(id)
  return all
}

/** What an app has kept for long enough to be judged. */
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

/** Digests of the trees of all revisions of an app, and of what is in them; undefined for too many. */
async function namedByTrees(
  apps: Pick<PlatformStore['apps'], 'revisions'>,
  bytes: AppBytes,
  id: string,
  most: number,
): Promise<ReadonlySet<string> | undefined> {
  const named = new Set<string>()
  const trees = new Set<string>()
  for await (const revision of revisionsOf(apps, id)) {
    if (trees.has(revision.tree)) continue
    if (trees.size >= most) return undefined
    trees.add(revision.tree)
    named.add(revision.tree)
    const { files } = await loadTree(bytes, revision)
    for (const { sha256 } of files.values()) named.add(sha256)
  }
  return named
}

async function* revisionsOf(
  apps: Pick<PlatformStore['apps'], 'revisions'>,
  app_id: string,
): AsyncGenerator<RevisionRecord> {
  for (let before: number | null = null; ;) {
    const { rows, more } = await apps.revisions({ app_id, limit: AT_ONCE, before })
    yield* rows
    before = rows.at(-1)?.number ?? null
    if (!more) return
  }
}
