import type { Tree, TreeFile } from '../apps/tree.ts'
import { digestOf } from '../apps/tree.ts'

/** Reads what a file of the base held, by its digest. */
export type ReadBytes = (sha256: string) => Promise<Uint8Array>

/** A tree that is being made from another: nothing is kept until all of it stands. */
export interface Draft {
  has(path: string): boolean
  /** The bytes at a path; undefined when there is no file. */
  read(path: string): Promise<Uint8Array | undefined>
  write(path: string, bytes: Uint8Array): void
  move(from: string, to: string): void
  remove(path: string): void
  configure(key: string, value: string | null): void
  /** The tree as it stands, and the bytes that it names and the base did not bring. */
  finish(): { readonly tree: Tree; readonly fresh: readonly Uint8Array[] }
}

export function createDraft(base: Tree, readBase: ReadBytes): Draft {
  const files = new Map<string, TreeFile>(base.files)
  const config = new Map(base.config)
  const written = new Map<string, Uint8Array>()
  return {
    has: (path) => files.has(path),
    async read(path) {
      const file = files.get(path)
      return file && (written.get(file.sha256) ?? (await readBase(file.sha256)))
    },
    write(path, bytes) {
      const sha256 = digestOf(bytes)
      written.set(sha256, bytes)
      files.set(path, { path, sha256, size: bytes.length })
    },
    move(from, to) {
      const file = files.get(from)
      if (file === undefined) return
      files.delete(from)
      files.set(to, { ...file, path: to })
    },
    remove(path) {
      files.delete(path)
    },
    configure(key, value) {
      if (value === null) config.delete(key)
      else config.set(key, value)
    },
    finish() {
      const named = new Set([...files.values()].map(({ sha256 }) => sha256))
      const fresh = [...written].filter(([sha256]) => named.has(sha256)).map(([, bytes]) => bytes)
      return { tree: { files, config }, fresh }
    },
  }
}
