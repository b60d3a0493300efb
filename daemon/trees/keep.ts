import type { AppBytes } from '../../plugins/apps/contract.ts'
import type { RevisionRecord } from '../../plugins/platform/contract/apps.ts'
import { httpError } from '../operations/errors.ts'
import type { Call } from '../operations/call.ts'
import type { Platform } from '../platform.ts'
import { STEP_BYTES, inPieces } from '../queues/steps.ts'
import type { ReadBytes } from './draft.ts'
import type { Tree } from './tree.ts'
import { printTree, readTree, sizeOf } from './tree.ts'

/** The store of app files. @throws KeyhookError `capability_unavailable` without one */
export function bytesOf({ plugins }: Pick<Platform, 'plugins'>): AppBytes {
  if (plugins.appBytes === undefined) throw httpError('capability_unavailable')
  return plugins.appBytes
}

/** The files of a revision. */
export async function loadTree(bytes: AppBytes, revision: RevisionRecord): Promise<Tree> {
  const kept = await bytes.get(revision.app_id, revision.tree)
  if (kept === undefined) throw treeIsGone(revision)
  return readTree(Buffer.from(kept).toString())
}

/** Minimum bytes of a file in a stored tree. */
const LISTED_FILE_BYTES = 100

/**
 * The files of a revision, for reading only: the size of the stored tree is reserved while it is read.
 *
 * @throws KeyhookError `too_many_bytes`
 */
export async function loadCountedTree(
  bytes: AppBytes,
  revision: RevisionRecord,
  reserve: Call['reserve'],
): Promise<Tree> {
  reserve(revision.files * LISTED_FILE_BYTES)
  const kept = await bytes.open(revision.app_id, revision.tree)
  if (kept === undefined) throw treeIsGone(revision)
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of kept) {
    pieces.push(piece)
    size += piece.length
    reserve(size)
  }
  return readTree(Buffer.concat(pieces).toString())
}

function treeIsGone({ number }: RevisionRecord): Error {
  return new Error(`the tree of revision ${number} is gone`)
}

/** Stores a tree whose files are stored already, and returns its digest. */
export async function keepTree(bytes: AppBytes, appId: string, tree: Tree): Promise<string> {
  const { sha256 } = await bytes.put(appId, Buffer.from(printTree(tree)))
  return sha256
}

/** Reads contents of an app's files by their digests. */
export function readKept(bytes: AppBytes, appId: string): ReadBytes {
  return async (sha256) => {
    // In pieces: reading and verifying a large file at once would block the event loop.
    const kept = await bytes.open(appId, sha256)
    if (kept === undefined) throw new Error(`${sha256} of ${appId} is gone`)
    const pieces: Uint8Array[] = []
    for await (const piece of kept) pieces.push(piece)
    const [first] = pieces
    return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces)
  }
}

/** A tree whose bytes are all stored, about to become a revision. */
export interface KeptTree {
  readonly tree: string
  readonly files: number
  readonly bytes: number
}

/** Stores bytes before the row that references them: those of a refused edit are garbage-collected. */
export async function keepMade(
  bytes: AppBytes,
  appId: string,
  { tree, fresh }: { readonly tree: Tree; readonly fresh: readonly Uint8Array[] },
): Promise<KeptTree> {
  const [digest] = await Promise.all([
    keepTree(bytes, appId, tree),
    keepEach(fresh, async (one) => {
      await bytes.put(appId, one.length > STEP_BYTES ? inPieces(one) : one)
    }),
  ])
  return { tree: digest, files: tree.files.size, bytes: sizeOf(tree.files) }
}

/** Concurrent writes of one request: other requests wait for the same disk. */
const AT_ONCE = 4

/**
 * Processes all items, a few at a time in any order. After a failure no other begins, and it rejects when those in
 * progress have ended.
 */
export async function keepEach<Item>(
  items: Iterable<Item>,
  keep: (item: Item) => Promise<void>,
): Promise<void> {
  const left = oneAfterAnother(items)
  const worker = async (): Promise<void> => {
    // An error here closes the shared iterator, which ends all workers.
    for (const item of left) await keep(item)
  }
  const workers = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker))
  const failed = workers.find((one) => one.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

function* oneAfterAnother<Item>(items: Iterable<Item>): Generator<Item> {
  yield* items
}
