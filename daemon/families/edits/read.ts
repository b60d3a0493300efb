import type { AppBytes } from '../../../plugins/apps/contract.ts'
import type { ReadBytes } from './draft.ts'

/** Reads what files of an app hold, by their digests. */
export function readKept(bytes: AppBytes, appId: string): ReadBytes {
  return async (sha256) => {
    const kept = await bytes.get(appId, sha256)
    if (kept === undefined) throw new Error(`${sha256} of ${appId} is gone`)
    return kept
  }
}
