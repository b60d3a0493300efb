import type { AppBytes } from '../../plugins/apps/contract.ts'
import type { RevisionRecord } from '../../plugins/platform/contract/apps.ts'
import { httpError } from '../operations/errors.ts'
import type { Call } from '../operations/call.ts'
import type { Platform } from '../platform.ts'
import { STEP_BYTES, inPieces } from '../queues/steps.ts'
import type { ReadBytes } from './draft.ts'
import type { Tree } from './tree.ts'
import { printTree, readTree, sizeOf } from './tree.ts'

/** Where the bytes of apps are kept. @throws KeyhookError `capability_unavailable` where nothing keeps them */
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

/** The least that a file of a tree takes where it is listed. */
const LISTED_FILE_BYTES = 100

/**
 * The files of a revision, for who only reads them: the size of their list is counted while it is read.
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

/** Keeps a tree whose files are kept already; answers its digest. */
export async function keepTree(bytes: AppBytes, appId: string, tree: Tree): Promise<string> {
  const { sha256 } = await bytes.put(appId, Buffer.from(printTree(tree)))
  return sha256
}

/** Reads what files of an app hold, by their digests. */
export function readKept(bytes: AppBytes, appId: string): ReadBytes {
  return async (sha256) => {
    // Piece by piece: a large file that is read and verified at once would hold the event loop.
    const kept = await bytes.open(appId, sha256)
    if (kept === undefined) throw new Error(`${sha256} of ${appId} is gone`)
    const pieces: Uint8Array[] = []
    for await (const piece of kept) pieces.push(piece)
    const [first] = pieces
    return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces)
  }
}

/** A tree all of whose bytes are kept, about to become a revision. */
export interface KeptTree {
  readonly tree: string
  readonly files: number
  readonly bytes: number
}

/** Bytes come before the row that names them: of an edit that is refused after all, they are collected. */
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

/** What is kept at once for one request: it waits for the disk, and others wait for it too. */
const AT_ONCE = 4

/** Works through all, a few at a time and in no order; once one fails no other is begun, and it rejects when none is left under way. */
export async function keepEach<Item>(
  items: Iterable<Item>,
  keep: (item: Item) => Promise<void>,
): Promise<void> {
  const left = oneAfterAnother(items)
  const worker = async (): Promise<void> => {
    // What throws in here ends the rest of all workers.
    for (const item of left) await keep(item)
  }
  const workers = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker))
  const failed = workers.find((one) => one.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

function* oneAfterAnother<Item>(items: Iterable<Item>): Generator<Item> {
  yield* items
}
