import type { AppBytes } from '../../../plugins/apps/contract.ts'
import type { ReadBytes } from './draft.ts'

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
