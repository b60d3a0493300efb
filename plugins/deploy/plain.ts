import { COUNT, MAP, NAME, declareArguments, recordOf } from '../../lib/internal/arguments.ts'
import type { Kept, Manifest, ServedFile } from './manifest.ts'
import { hasFingerprint, isServed, mediaOf } from './media.ts'

const readFile = declareArguments('plainManifest', {
  'a file': recordOf({ path: NAME, sha256: NAME, size: COUNT }),
})

const readPlain = declareArguments('plainManifest', {
  files: {
    allowed: 'an iterable of files',
    accepts: (value) => typeof value === 'object' && value !== null && Symbol.iterator in value,
  },
  config: MAP,
})

/**
 * What is served of an app's files as they are: nothing is compressed.
 *
 * @param files each is named once
 */
export function plainManifest(
  ...args: readonly [
    files: Iterable<Kept & { readonly path: string }>,
    config: ReadonlyMap<string, string>,
  ]
): Manifest {
  readPlain(args)
  const [files, config] = args
  const served = new Map<string, ServedFile>()
  for (const file of files) {
    readFile([file])
    const { path, sha256, size } = file
    if (!isServed(path)) continue
    const { type } = mediaOf(path)
    served.set(path, { path, sha256, size, type, immutable: hasFingerprint(path), encoded: {} })
  }
  const observed = config.get('observe') === 'off' ? { observe: false } : {}
  return { files: served, spa: config.get('spa_fallback') === 'true', ...observed }
}
