import { readText } from '../../../lib/internal/bytes.ts'
import { giveWay } from '../../queues/steps.ts'
import type { ChangedFile } from '../../trees/apply.ts'
import { changesOf } from '../../trees/apply.ts'
import { diffTexts } from '../../trees/diff.ts'
import type { ReadBytes } from '../../trees/draft.ts'
import type { Tree } from '../../trees/tree.ts'

/** Maximum bytes of a file that is compared. */
const MAX_COMPARED_BYTES = 262_144
/** Bytes of the diffs of several files, after which those of further files are left out. */
const MAX_DIFF_BYTES = 262_144
/** Files that are compared: each is read from where the bytes are stored, which may be far away. */
const MAX_COMPARED_FILES = 500

/** Why a changed file has no diff. */
export const OMISSIONS = ['binary', 'too_large', 'too_many'] as const

export interface DiffedFile extends ChangedFile {
  readonly added: number | null
  readonly removed: number | null
  readonly omitted: (typeof OMISSIONS)[number] | null
}

export interface TreeDiff {
  readonly files: readonly DiffedFile[]
  readonly text: string
}

/** What is needed to compare the files of an app. */
export interface Comparing {
  readonly read: ReadBytes
  /** Reserves memory; the maximum of several calls counts. */
  reserve(bytes: number): void
  readonly signal: AbortSignal
}

/** Compares the files of two trees; yields to the event loop after each file. */
export async function diffTrees(
  from: Tree,
  to: Tree,
  path: string | undefined,
  { read, reserve, signal }: Comparing,
): Promise<TreeDiff> {
  const changes = changesOf(from, to).filter((one) => path === undefined || one.path === path)
  const files: DiffedFile[] = []
  let text = ''
  for (const [index, change] of changes.entries()) {
    if (index >= MAX_COMPARED_FILES || text.length > MAX_DIFF_BYTES) {
      files.push({ ...change, added: null, removed: null, omitted: 'too_many' })
      continue
    }
    const pair = [from.files.get(change.path), to.files.get(change.path)] as const
    const isLarge = pair.some((file) => (file?.size ?? 0) > MAX_COMPARED_BYTES)
    const omitted = isLarge ? 'too_large' : 'binary'
    const texts = isLarge ? undefined : await readTexts(pair, read)
    if (texts === undefined) {
      files.push({ ...change, added: null, removed: null, omitted })
      continue
    }
    const { added, removed, text: one } = diffTexts(change.path, ...texts)
    files.push({ ...change, added, removed, omitted: null })
    text += one
    reserve(text.length * 2)
    await giveWay()
    signal.throwIfAborted()
  }
  return { files, text }
}

type Pair<Value> = readonly [Value | undefined, Value | undefined]

/** Both texts; undefined when one of them is no text. */
async function readTexts(
  files: Pair<{ readonly sha256: string }>,
  read: ReadBytes,
): Promise<Pair<string> | undefined> {
  const texts: (string | undefined)[] = []
  for (const file of files) {
    const text = file === undefined ? undefined : readText(await read(file.sha256))
    if (file !== undefined && text === undefined) return undefined
    texts.push(text)
  }
  const [before, after] = texts
  return [before, after]
}

/** Configuration that differs between two trees, by key. */
export function diffConfig(
  from: Tree,
  to: Tree,
): readonly {
  readonly key: string
  readonly before: string | null
  readonly after: string | null
}[] {
  return [...new Set([...from.config.keys(), ...to.config.keys()])]
    .toSorted()
    .map((key) => ({
      key,
      before: from.config.get(key) ?? null,
      after: to.config.get(key) ?? null,
    }))
    .filter(({ before, after }) => before !== after)
}
