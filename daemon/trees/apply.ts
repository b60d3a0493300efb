import type { EditOperation } from '../../plugins/edits/contract.ts'
import type { PathFault } from './path.ts'
import { PATH_FAULTS, judgePath } from './path.ts'
import type { Tree, TreeFault } from './tree.ts'
import { MAX_FILE_BYTES, TREE_FAULTS, judgeTree } from './tree.ts'
import { runInSteps } from '../queues/steps.ts'
import type { Draft, ReadBytes } from './draft.ts'
import { createDraft, finish } from './draft.ts'
import { applyPatches } from './patches.ts'

/** Faults of operations, with their public messages. */
const FAULTS = {
  ...PATH_FAULTS,
  ...TREE_FAULTS,
  path_not_found: 'There is no file at this path.',
  path_taken: 'There is a file at this path already.',
  no_match: 'The text to search for is not in the file. Read the file again and copy it exactly.',
  many_matches:
    'The text to search for stands in the file more than once. Take more of what is around it.',
  not_text: 'The file is no UTF-8 text. Write it as a whole.',
  too_much_work:
    'The patches of one edit work through 64 MiB of files at most. Write the file as a whole.',
  config_key: 'A key of configuration is 1 to 100 letters, digits, _, . or -.',
  config_value: 'A value of configuration has at most 4,000 characters.',
  config_observe: 'The value of observe is on or off.',
} as const

type FaultCode = PathFault | TreeFault | keyof typeof FAULTS

export interface OperationRefusal {
  /** Index of the operation; null for a fault of the resulting tree. */
  readonly index: number | null
  readonly code: FaultCode
  readonly path: string
  readonly message: string
}

/** Result of applied operations. */
export interface AppliedEdit {
  readonly tree: Tree
  /** Contents that the base does not have. */
  readonly fresh: readonly Uint8Array[]
  readonly changed: readonly ChangedFile[]
}

export interface ChangedFile {
  readonly path: string
  readonly change: 'added' | 'changed' | 'removed'
}

/** An operation; a write may also have bytes that are not text. */
export type GivenOperation =
  | EditOperation
  | { readonly op: 'write'; readonly path: string; readonly bytes: Uint8Array }

/**
 * Applies operations in their order, each to the result of the one before: all of them, or none.
 *
 * Everything that needs no file contents is checked first; after a fault there, no file is read and no patch
 * applied. Returns the refusals; operations after a refused one are checked as if it were absent. Nothing is
 * stored. Long work yields to the event loop between steps.
 *
 * @param signal ends the work early
 * @throws the reason of the signal
 */
export async function applyOperations(
  base: Tree,
  operations: readonly GivenOperation[],
  readBase: ReadBytes,
  signal?: AbortSignal,
): Promise<AppliedEdit | readonly OperationRefusal[]> {
  const draft = createDraft(base)
  const refusals: OperationRefusal[] = []
  const work = { left: MAX_PATCHED }
  for (const [index, operation] of operations.entries()) {
    const fault = judgeOne(draft, operation, index, work)
    if (fault !== undefined) refusals.push(refuse(index, fault.code, fault.path))
  }
  if (refusals.length > 0) return refusals
  const fault = await runInSteps(judgeTree(draft), signal)
  if (fault !== undefined) return [refuse(null, fault.fault, fault.path)]

  const applied = await applyPatches(draft, readBase, signal)
  if (Array.isArray(applied))
    return applied.map(({ index, code, path }) => refuse(index, code, path))
  const { tree, fresh } = await finish(draft, applied, signal)
  return { tree, fresh, changed: changesOf(base, tree) }
}

/** Maximum file bytes that the patches of one edit process: each patch reads and writes its whole file. */
const MAX_PATCHED = 64 * 1_048_576

interface Work {
  left: number
}

interface Fault {
  readonly code: FaultCode
  readonly path: string
}

function refuse(index: number | null, code: FaultCode, path: string): OperationRefusal {
  return { index, code, path, message: FAULTS[code] }
}

/** Applies an operation to the draft, as far as that needs no file contents. */
function judgeOne(
  draft: Draft,
  given: GivenOperation,
  index: number,
  work: Work,
): Fault | undefined {
  switch (given.op) {
    case 'write':
      return write(draft, given.path, 'bytes' in given ? given.bytes : Buffer.from(given.content))
    case 'patch':
      return patch(draft, given, index, work)
    case 'rename':
      return rename(draft, given)
    case 'delete':
      if (!draft.files.has(given.path)) return { code: 'path_not_found', path: given.path }
      draft.remove(given.path)
      return undefined
    case 'set_config':
      return configure(draft, given)
  }
}

function write(draft: Draft, path: string, bytes: Uint8Array): Fault | undefined {
  const code = judgeFile(path, bytes.length)
  if (code !== undefined) return { code, path }
  draft.write(path, bytes)
  return undefined
}

function judgeFile(path: string, size: number): FaultCode | undefined {
  return judgePath(path) ?? (size > MAX_FILE_BYTES ? 'too_large' : undefined)
}

function patch(
  draft: Draft,
  { path, search, replace }: Extract<EditOperation, { op: 'patch' }>,
  index: number,
  work: Work,
): Fault | undefined {
  const file = draft.files.get(path)
  if (file === undefined) return { code: 'path_not_found', path }
  work.left -= file.size
  if (work.left < 0) return { code: 'too_much_work', path }
  const found = search.isWellFormed() ? Buffer.from(search) : undefined
  const put = Buffer.from(replace)
  const size = Math.max(0, file.size - (found?.length ?? 0)) + put.length
  const code = judgeFile(path, size)
  if (code !== undefined) return { code, path }
  draft.patch({ index, path, search: found, replace: put }, size)
  return undefined
}

function rename(
  draft: Draft,
  { from, to }: Extract<EditOperation, { op: 'rename' }>,
): Fault | undefined {
  const { files } = draft
  if (!files.has(from)) return { code: 'path_not_found', path: from }
  const code = judgePath(to) ?? (files.has(to) ? 'path_taken' : undefined)
  if (code !== undefined) return { code, path: to }
  draft.move(from, to)
  return undefined
}

function configure(
  draft: Draft,
  { key, value }: Extract<EditOperation, { op: 'set_config' }>,
): Fault | undefined {
  if (!/^[A-Za-z0-9_.-]{1,100}$/.test(key)) return { code: 'config_key', path: key }
  if (value !== null && value.length > 4000) return { code: 'config_value', path: key }
  // A misspelled value would leave it on.
  if (key === 'observe' && value !== null && value !== 'on' && value !== 'off') {
    return { code: 'config_observe', path: key }
  }
  draft.configure(key, value)
  return undefined
}

/** Paths that an operation names. */
export function pathsOf(operation: GivenOperation): readonly string[] {
  if (operation.op === 'rename') return [operation.from, operation.to]
  return operation.op === 'set_config' ? [] : [operation.path]
}

/** Files that differ between two trees, ordered by path. */
export function changesOf(base: Tree, tree: Tree): readonly ChangedFile[] {
  const changed: ChangedFile[] = []
  for (const { path, sha256 } of tree.files.values()) {
    const before = base.files.get(path)
    if (before === undefined) changed.push({ path, change: 'added' })
    else if (before.sha256 !== sha256) changed.push({ path, change: 'changed' })
  }
  for (const path of base.files.keys()) {
    if (!tree.files.has(path)) changed.push({ path, change: 'removed' })
  }
  return changed.sort((a, b) => (a.path < b.path ? -1 : 1))
}
