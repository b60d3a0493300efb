import type { FileRecord, FoundChunk, NearSearch } from '../contract/files.ts'
import type { VectorBlock } from '../nearest.ts'
import { Nearest, inTurns } from '../nearest.ts'
import { compareWith } from '../vectors.ts'
import type { KeptVectors, Reading } from './state.ts'

/** Passages of these files by their vectors. */
export async function findNearest(
  state: Reading,
  searched: readonly FileRecord[],
  { model, vector, limit, most, known }: NearSearch,
): Promise<readonly FoundChunk[]> {
  const comparison = compareWith(vector)
  if (comparison === undefined) return []
  const blocks = searched
    .flatMap(({ id }) => state().fileVectors.get(id) ?? [])
    .filter((block) => block.model === model)
  const all = blocks.reduce((sum, { chunks }) => sum + chunks, 0)
  const nearest = new Nearest(comparison, limit)
  const compared = all > most ? only(blocks, known, comparison.size) : blocks
  for (const some of inTurns(compared)) {
    for (const block of some) nearest.compare(block)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return nearest.best().flatMap((place) => found(state, searched, place))
}

/** The vectors of some chunks, each by itself. */
function only(
  blocks: readonly KeptVectors[],
  known: NearSearch['known'],
  size: number,
): readonly VectorBlock[] {
  return known.flatMap(({ file_id, ordinal }) =>
    blocks
      .filter((block) => block.file_id === file_id)
      .filter((block) => block.ordinal <= ordinal && ordinal < block.ordinal + block.chunks)
      .filter(({ chunks, packed }) => packed.length === chunks * size)
      .map((block) => {
        const at = (ordinal - block.ordinal) * size
        return { file_id, ordinal, chunks: 1, packed: block.packed.subarray(at, at + size) }
      }),
  )
}

function found(
  state: Reading,
  searched: readonly FileRecord[],
  { file_id, ordinal, score }: { file_id: string; ordinal: number; score: number },
): readonly FoundChunk[] {
  const file = searched.find(({ id }) => id === file_id)
  const chunk = state()
    .fileChunks.get(file_id)
    ?.find((one) => one.ordinal === ordinal)
  return file === undefined || chunk === undefined
    ? []
    : [{ file_id, name: file.name, ...chunk, score }]
}
