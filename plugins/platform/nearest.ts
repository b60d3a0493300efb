import type { ChunkPlace } from './contract/files.ts'
import { comparePlaces } from './ranking.ts'
import type { Comparison } from './vectors.ts'

/** Vectors that are compared before others have their turn. */
export const AT_ONCE = 256

/** Vectors of neighbouring chunks of a file, packed. */
export interface VectorBlock {
  readonly file_id: string
  /** Of the first chunk. */
  readonly ordinal: number
  readonly chunks: number
  readonly packed: Uint8Array
}

export interface NearChunk extends ChunkPlace {
  /** The cosine. */
  readonly score: number
}

/** Keeps the best of what is compared, however much that is. */
export class Nearest {
  readonly #comparison: Comparison
  readonly #limit: number
  /** The best first. */
  readonly #best: NearChunk[] = []

  constructor(comparison: Comparison, limit: number) {
    this.#comparison = comparison
    this.#limit = limit
  }

  /** Compares every vector of a block; none of one of another length. */
  compare({ file_id, ordinal, chunks, packed }: VectorBlock): void {
    if (packed.length !== chunks * this.#comparison.size) return
    for (let index = 0; index < chunks; index++) {
      const score = this.#comparison.cosine(packed, index)
      if (score > 0) this.#offer({ file_id, ordinal: ordinal + index, score })
    }
  }

  best(): readonly NearChunk[] {
    return this.#best
  }

  #offer(chunk: NearChunk): void {
    const worst = this.#best[this.#limit - 1]
    if (worst !== undefined && compareNear(chunk, worst) >= 0) return
    let low = 0
    for (let high = this.#best.length; low < high;) {
      const middle = (low + high) >>> 1
      const other = this.#best[middle]
      if (other !== undefined && compareNear(chunk, other) > 0) low = middle + 1
      else high = middle
    }
    this.#best.splice(low, 0, chunk)
    if (this.#best.length > this.#limit) this.#best.pop()
  }
}

function compareNear(a: NearChunk, b: NearChunk): number {
  return b.score - a.score || comparePlaces(a, b)
}

/** The same blocks in lists of about as many vectors as are compared at once. */
export function* inTurns<Block extends Pick<VectorBlock, 'chunks'>>(
  blocks: Iterable<Block>,
): Generator<readonly Block[]> {
  let some: Block[] = []
  let vectors = 0
  for (const block of blocks) {
    if (vectors > 0 && vectors + block.chunks > AT_ONCE) {
      yield some
      some = []
      vectors = 0
    }
    some.push(block)
    vectors += block.chunks
  }
  if (some.length > 0) yield some
}
