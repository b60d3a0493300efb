import { runInSteps } from '../queues/steps.ts'
import type { Tree, TreeFile } from './tree.ts'
import { digestInSteps } from './tree.ts'

/** Reads a file of the base by its digest. */
export type ReadBytes = (sha256: string) => Promise<Uint8Array>

/** A patch of a file, in UTF-8. */
export interface Patch {
  /** Index of its operation. */
  readonly index: number
  /** Path of the file when the operation applies. */
  readonly path: string
  /** Undefined for text that no UTF-8 file can contain. */
  readonly search: Uint8Array | undefined
  readonly replace: Uint8Array
}

/** A file after the operations. Its patches are not applied yet; its size includes them. */
export interface DraftFile {
  size: number
  /** Input of the patches: given bytes, or the digest of a file of the base. */
  readonly content: Uint8Array | string
  readonly patches: Patch[]
}

/** A tree under construction: sizes and contents, with patches not applied yet. */
export interface Draft {
  readonly files: ReadonlyMap<string, DraftFile | TreeFile>
  readonly config: ReadonlyMap<string, string>
  /** Files with patches, including those that a later operation deletes or overwrites. */
  readonly patched: ReadonlySet<DraftFile>
  write(path: string, bytes: Uint8Array): void
  /** Patches an existing file. @param size of the file with this patch applied */
  patch(patch: Patch, size: number): void
  move(from: string, to: string): void
  remove(path: string): void
  configure(key: string, value: string | null): void
}

export function createDraft(base: Tree): Draft {
  const files = new Map<string, DraftFile | TreeFile>(base.files)
  const config = new Map(base.config)
  const patched = new Set<DraftFile>()
  return {
    files,
    config,
    patched,
    write(path, bytes) {
      files.set(path, { size: bytes.length, content: bytes, patches: [] })
    },
    patch(patch, size) {
      const known = files.get(patch.path)
      if (known === undefined) return
      const file: DraftFile =
        'sha256' in known ? { size, content: known.sha256, patches: [] } : known
      file.size = size
      file.patches.push(patch)
      files.set(patch.path, file)
      patched.add(file)
    },
    move(from, to) {
      const file = files.get(from)
      if (file === undefined) return
      files.delete(from)
      files.set(to, file)
    },
    remove(path) {
      files.delete(path)
    },
    configure(key, value) {
      if (value === null) config.delete(key)
      else config.set(key, value)
    },
  }
}

/**
 * The tree of a draft, and the contents in it that the base does not have, each once.
 *
 * @param made contents of patched files
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
