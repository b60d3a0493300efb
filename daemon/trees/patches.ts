import { isUtf8 } from 'node:buffer'
import { giveWay, runInSteps } from '../queues/steps.ts'
import type { Draft, DraftFile, Patch, ReadBytes } from './draft.ts'
import { findMatch } from './find-match.ts'

type PatchCode = 'not_text' | 'no_match' | 'many_matches'

/** A patch that cannot be applied. */
export interface PatchFault extends Pick<Patch, 'index' | 'path'> {
  readonly code: PatchCode
}

/**
 * Applies the patches of a draft, one file after the other, so that each file is read once and only its last
 * version is in memory. It yields to the event loop after every patch, and within those of large files.
 *
 * @returns contents of the patched files that are still in the tree, or every patch that failed
 */
export async function applyPatches(
  { files, patched }: Pick<Draft, 'files' | 'patched'>,
  readBase: ReadBytes,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<DraftFile, Uint8Array> | PatchFault[]> {
  const left = new Set<object>(files.values())
  const made = new Map<DraftFile, Uint8Array>()
  const faults: PatchFault[] = []
  for (const file of patched) {
    const before = typeof file.content === 'string' ? await readBase(file.content) : file.content
    const after = await patchOne(before, file.patches, faults, signal)
    if (left.has(file)) made.set(file, after)
  }
  return faults.length > 0 ? faults.sort((a, b) => a.index - b.index) : made
}

/** The file with all patches applied that can be; the others are added to `faults`. */
async function patchOne(
  before: Uint8Array,
  patches: readonly Patch[],
  faults: PatchFault[],
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  // Patches keep it valid UTF-8: they find and insert whole characters.
  const isText = isUtf8(before)
  let bytes = before
  for (const { index, path, search, replace } of patches) {
    await giveWay()
    signal?.throwIfAborted()
    const match = isText ? await matchIn(bytes, search, signal) : 'not_text'
    if (typeof match === 'number') bytes = splice(bytes, match, search?.length ?? 0, replace)
    else faults.push({ index, path, code: match })
  }
  return bytes
}

async function matchIn(
  bytes: Uint8Array,
  search: Uint8Array | undefined,
  signal: AbortSignal | undefined,
): Promise<number | PatchCode> {
  if (search === undefined) return 'no_match'
  return runInSteps(findMatch(search, bytes), signal)
}

function splice(bytes: Uint8Array, at: number, length: number, put: Uint8Array): Uint8Array {
  return Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + length)])
}
