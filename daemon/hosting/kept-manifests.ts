import type { AppBytes } from '../../plugins/apps/contract.ts'
import type { Manifest } from '../../plugins/deploy/contract.ts'
import { readManifest } from '../../plugins/deploy/contract.ts'

export interface KeptManifest {
  readonly manifest: Manifest
  /** As it is printed. */
  readonly bytes: number
}

/** Reads manifests of releases; rejects when one is gone. */
export type ReadKeptManifest = (appId: string, sha256: string) => Promise<KeptManifest>

/** Manifests that are kept, and bytes of all of them. */
const MOST = 200
const MOST_BYTES = 16 * 1024 * 1024

/**
 * Keeps those that were read last: while an app is led elsewhere every request reads what it serves, and
 * what a digest names never changes.
 */
export function createKeptManifests(bytes: Pick<AppBytes, 'get'>): ReadKeptManifest {
  // In the order of use: the oldest is the first.
  const kept = new Map<string, KeptManifest>()
  let size = 0

  function keep(key: string, read: KeptManifest): void {
    if (kept.has(key) || read.bytes > MOST_BYTES) return
    kept.set(key, read)
    size += read.bytes
    for (const [oldest, one] of kept) {
      if (kept.size <= MOST && size <= MOST_BYTES) break
      kept.delete(oldest)
      size -= one.bytes
    }
  }

  return async (appId, sha256) => {
    const key = `${appId} ${sha256}`
    const known = kept.get(key)
    if (known !== undefined) {
      kept.delete(key)
      kept.set(key, known)
      return known
    }
    const text = await readKept(bytes, appId, sha256)
    const read = { manifest: readManifest(text), bytes: text.length }
    keep(key, read)
    return read
  }
}

/** What is kept of an app, as text. */
export async function readKept(
  bytes: Pick<AppBytes, 'get'>,
  appId: string,
  sha256: string,
): Promise<string> {
  const kept = await bytes.get(appId, sha256)
  if (kept === undefined) throw new Error(`${sha256} of ${appId} is gone`)
  return Buffer.from(kept).toString()
}
