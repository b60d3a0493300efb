import { runInSteps } from '../../queues/steps.ts'
import type { Tree, TreeFile } from '../apps/tree.ts'
import { digestInSteps } from '../apps/tree.ts'
import type { Draft, DraftFile } from './draft.ts'

/**
 * The tree that a draft stands for, and the bytes in it that the base did not bring, each once.
 *
 * @param made what patched files hold
 */
export async function finish(
  draft: Pick<Draft, 'files' | 'config'>,
  made: ReadonlyMap<DraftFile, Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<{ readonly tree: Tree; readonly fresh: readonly Uint8Array[] }> {
  const files = new Map<string, TreeFile>()
  const fresh = new Map<string, Uint8Array>()
  for (const [path, file] of draft.files) {
    if ('sha256' in file) {
      files.set(path, file.path === path ? file : { ...file, path })
      continue
    }
    const bytes = made.get(file) ?? file.content
    if (typeof bytes === 'string') throw new Error(`${path} was not patched`)
    const sha256 = await runInSteps(digestInSteps(bytes), signal)
    fresh.set(sha256, bytes)
    files.set(path, { path, sha256, size: bytes.length })
  }
  return { tree: { files, config: draft.config }, fresh: [...fresh.values()] }
}
