import { createHash } from 'node:crypto'
import type { Steps } from '../queues/steps.ts'
import { STEP_BYTES } from '../queues/steps.ts'
import { foldPath, foldersOf } from './path.ts'

export interface TreeFile {
  readonly path: string
  /** SHA-256 of its bytes, in hex. */
  readonly sha256: string
  readonly size: number
}

/** An app's files and configuration at one time. Trees are immutable: an edit creates another. */
export interface Tree {
  readonly files: ReadonlyMap<string, TreeFile>
  readonly config: ReadonlyMap<string, string>
}

export const MAX_FILES = 10_000
export const MAX_FILE_BYTES = 10 * 1_048_576
export const MAX_TREE_BYTES = 200 * 1_048_576
export const MAX_CONFIG = 200

/** Faults of trees, with their public messages. */
export const TREE_FAULTS = {
  path_collision:
    'Another path differs from this one in case or form alone; some systems cannot keep them apart.',
  path_is_folder: 'The path of a file is the folder of another.',
  too_many_files: `An app has at most ${MAX_FILES} files.`,
  too_large: `An app holds at most ${MAX_TREE_BYTES / 1_048_576} MiB, and a file ${MAX_FILE_BYTES / 1_048_576} MiB.`,
  too_much_config: `An app has at most ${MAX_CONFIG} keys of configuration.`,
} as const

export type TreeFault = keyof typeof TREE_FAULTS

/** The part of a tree that is checked without file contents. */
export interface TreeOutline {
  readonly files: ReadonlyMap<string, Pick<TreeFile, 'size'>>
  readonly config: ReadonlyMap<string, string>
}

/** Files checked in one step: each may be 11 folders deep. */
const JUDGED_AT_ONCE = 64

/** The first fault of a tree and its path; undefined for a valid tree. Each path was checked before. */
export function* judgeTree({
  files,
  config,
}: TreeOutline): Steps<{ readonly fault: TreeFault; readonly path: string } | undefined> {
  if (files.size > MAX_FILES) return { fault: 'too_many_files', path: '' }
  if (config.size > MAX_CONFIG) return { fault: 'too_much_config', path: '' }
  if (sizeOf(files) > MAX_TREE_BYTES) return { fault: 'too_large', path: '' }
  const folds = new Map<string, string>()
  let judged = 0
  for (const path of files.keys()) {
    for (const folder of foldersOf(path)) {
      if (files.has(folder)) return { fault: 'path_is_folder', path: folder }
      const fold = foldPath(folder)
      if ((folds.get(fold) ?? folder) !== folder) return { fault: 'path_collision', path }
      folds.set(fold, folder)
    }
    const fold = foldPath(path)
    if (folds.has(fold)) return { fault: 'path_collision', path }
    folds.set(fold, path)
    judged += 1
    if (judged % JUDGED_AT_ONCE === 0) yield
  }
  return undefined
}

export function sizeOf(files: TreeOutline['files']): number {
  let size = 0
  for (const file of files.values()) size += file.size
  return size
}

/** The stored text of a tree: equal trees have equal text, whatever the order of their files. */
export function printTree({ files, config }: Tree): string {
  const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
    a < b ? -1 : 1
  return JSON.stringify({
    files: [...files].sort(byName).map(([path, { sha256, size }]) => [path, sha256, size]),
    config: [...config].sort(byName),
  })
}

/** @throws TypeError for text that `printTree` did not print */
export function readTree(text: string): Tree {
  const { files, config } = JSON.parse(text) as {
    files: [string, string, number][]
    config: [string, string][]
  }
  return {
    files: new Map(files.map(([path, sha256, size]) => [path, { path, sha256, size }])),
    config: new Map(config),
  }
}

export function digestOf(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The digest of many bytes, in steps. */
export function* digestInSteps(bytes: Uint8Array): Steps<string> {
  const hash = createHash('sha256')
  for (let from = 0; from < bytes.length; from += STEP_BYTES) {
    hash.update(bytes.subarray(from, from + STEP_BYTES))
    if (from + STEP_BYTES < bytes.length) yield
  }
  return hash.digest('hex')
}
