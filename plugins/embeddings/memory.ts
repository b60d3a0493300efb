import {
  NAME,
  POSITIVE,
  declareArguments,
  listOf,
  optional,
  optionsOf,
} from '../../lib/internal/arguments.ts'
import type { Embedder } from './contract.ts'
import { EmbeddingError } from './contract.ts'
import { requireTexts } from './vectors.ts'

export interface MemoryEmbedderOptions {
  /** Default `fake-embedder`. */
  readonly model?: string
  /** Numbers of one vector. Default 64. */
  readonly dimensions?: number
  /** Lists of synonyms. Default none. */
  readonly same?: readonly (readonly string[])[]
}

const readEmbedder = declareArguments('createMemoryEmbedder', {
  options: optionsOf({
    model: optional(NAME),
    dimensions: optional(POSITIVE),
    same: optional(listOf(listOf(NAME))),
  }),
})

const WORD = /[\p{L}\p{N}]+/gu

/**
 * A fake, for tests and for trying the platform. Texts are near each other when they share words or
 * synonyms.
 *
 * @example
 * const embedder = createMemoryEmbedder({ same: [['car', 'automobile']] })
 */
export function createMemoryEmbedder(
  ...args: readonly [options?: MemoryEmbedderOptions]
): Embedder {
  const [options = {}] = readEmbedder(args) as typeof args
  const { model = 'fake-embedder', dimensions = 64, same = [] } = options
  const known = new Map(same.flatMap((words) => words.map((word) => [word, words[0] ?? word])))
  const closing = new AbortController()

  function vectorOf(text: string): Float32Array {
    const vector = new Float32Array(dimensions)
    for (const [word] of text.toLowerCase().matchAll(WORD)) {
      const hash = hashOf(known.get(word) ?? word)
      const at = (hash >>> 1) % dimensions
      vector[at] = (vector[at] ?? 0) + (hash % 2 === 0 ? 1 : -1)
    }
    return vector
  }

  return {
    model,
    async embed(texts, signal) {
      requireTexts(texts)
      signal.throwIfAborted()
      closing.signal.throwIfAborted()
      return texts.map(vectorOf)
    },
    async close() {
      closing.abort(new EmbeddingError('embeddings_unavailable', { internal: 'closed' }))
    },
  }
}

/** FNV-1a of 32 bits: the same on every machine. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(word)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return hash
}
