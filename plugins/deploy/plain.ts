import type { Kept, Manifest, ServedFile } from './manifest.ts'
import { hasFingerprint, isServed, mediaOf } from './media.ts'

/**
 * What is served of an app's files as they are: nothing is compressed.
 *
 * @param files each is named once
 */
export function plainManifest(
  files: Iterable<Kept & { readonly path: string }>,
  config: ReadonlyMap<string, string>,
): Manifest {
  const served = new Map<string, ServedFile>()
  for (const { path, sha256, size } of files) {
    if (!isServed(path)) continue
    const { type } = mediaOf(path)
    served.set(path, { path, sha256, size, type, immutable: hasFingerprint(path), encoded: {} })
  }
  return { files: served, spa: config.get('spa_fallback') === 'true' }
}
