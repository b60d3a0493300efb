import { createReadStream } from 'node:fs'
import { mkdir, open, rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Millis } from '../../lib/time.ts'
import { MINUTE } from '../../lib/time.ts'
import { APP_BYTES } from '../../plugins/registry.ts'
import type { AppBytes } from '../../plugins/apps/contract.ts'
import { blobPath, damaged } from './manifest.ts'
import type { Manifest } from './manifest.ts'

/** Digests by app, in order. */
export type BlobsOfApps = Readonly<Record<string, readonly string[]>>

/**
 * A blob that a snapshot names was stored before it, and is deleted an hour after it was stored at the earliest:
 * the pass after the snapshot finds every one of them while the passes before it took less than this together.
 */
const CAUGHT_UP: Millis = 10 * MINUTE
const MOST_PASSES = 10

/** Copies what a daemon may be adding to: before the snapshot of its database, and once more after it. */
export interface BlobCopies {
  /** Copies until a pass finds little that is new. */
  catchUp(): Promise<void>
  /** One more pass; answers everything that is copied, by app. */
  finish(): Promise<BlobsOfApps>
}

/** @param folder of the apps of a data folder */
export async function copyBlobs(
  folder: string,
  to: string,
  progress: (copied: number) => void,
): Promise<BlobCopies> {
  const bytes = await APP_BYTES.disk({ folder, clock: Date })
  const known = new Map<string, Set<string>>()
  let copied = 0
  async function pass(): Promise<void> {
    for await (const app of bytes.apps()) {
      const digests = known.get(app) ?? new Set()
      known.set(app, digests)
      for await (const { sha256 } of bytes.list(app)) {
        if (digests.has(sha256) || !(await copyOne(bytes, app, sha256, to))) continue
        digests.add(sha256)
        progress(++copied)
      }
    }
  }
  return {
    async catchUp() {
      for (let passes = 0; passes < MOST_PASSES; passes++) {
        const began = performance.now()
        await pass()
        if (performance.now() - began < CAUGHT_UP) return
      }
    },
    async finish() {
      await pass()
      return Object.fromEntries(
        [...known].map(([app, digests]) => [app, [...digests].sort()] as const),
      )
    },
  }
}

/** False for a blob that was deleted meanwhile: nothing references it. */
async function copyOne(bytes: AppBytes, app: string, sha256: string, to: string): Promise<boolean> {
  const file = join(to, blobPath(sha256))
  // Apps may share a blob, which is copied once.
  if ((await stat(file).catch(() => undefined)) !== undefined) return true
  const chunks = await bytes.open(app, sha256)
  if (chunks === undefined) return false
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const unfinished = `${file}.unfinished`
  const handle = await open(unfinished, 'w', 0o600)
  try {
    // All bytes are compared with the digest as they are read.
    for await (const chunk of chunks) await handle.writeFile(chunk)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(unfinished, file)
  return true
}

/** Puts the blobs of a backup into the folder of apps of a data folder. */
export async function restoreBlobs(
  backup: string,
  { apps }: Pick<Manifest, 'apps'>,
  folder: string,
  progress: (restored: number) => void,
): Promise<void> {
  const bytes = await APP_BYTES.disk({ folder, clock: Date })
  let restored = 0
  for (const [app, digests] of Object.entries(apps ?? {})) {
    for (const sha256 of digests) {
      const kept = await bytes.put(app, createReadStream(join(backup, blobPath(sha256))))
      if (kept.sha256 !== sha256) throw damaged(backup, `${blobPath(sha256)} is another blob`)
      progress(++restored)
    }
  }
}
