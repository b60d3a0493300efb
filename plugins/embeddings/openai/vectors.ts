import { z } from 'zod'
import { EmbeddingError, MAX_DIMENSIONS } from '../contract.ts'

const answerSchema = z.object({
  data: z.array(
    z.object({ index: z.number().int().nonnegative().nullish(), embedding: z.unknown() }),
  ),
})

/**
 * The vectors of an answer, in the order of the texts: as base64 of little-endian floats, which is asked
 * for, or as numbers, which is what servers send that do not know it.
 *
 * @throws EmbeddingError `embeddings_invalid` for anything but a usable vector of each text, all of one length
 */
export function readVectors(answer: Uint8Array, count: number): readonly Float32Array[] {
  const read = answerSchema.safeParse(parse(answer))
  if (!read.success) throw invalid('no list of vectors')
  const vectors = new Map<number, Float32Array>()
  for (const [place, { index, embedding }] of read.data.data.entries()) {
    vectors.set(index ?? place, readVector(embedding))
  }
  const ordered = Array.from({ length: count }, (_, index) => vectors.get(index))
  const length = ordered[0]?.length
  const isWhole = read.data.data.length === count && vectors.size === count
  if (!isWhole || !ordered.every((vector) => vector !== undefined && vector.length === length)) {
    throw invalid('not a vector of one length for each text')
  }
  return ordered.filter((vector) => vector !== undefined)
}

function readVector(embedding: unknown): Float32Array {
  const vector = typeof embedding === 'string' ? fromBase64(embedding) : fromNumbers(embedding)
  const isUsable =
    vector !== undefined &&
    vector.length > 0 &&
    vector.length <= MAX_DIMENSIONS &&
    vector.every(Number.isFinite)
  if (!isUsable) throw invalid('what is no vector')
  return vector
}

function fromBase64(text: string): Float32Array | undefined {
  if (text.length > MAX_DIMENSIONS * 6 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length % 4 !== 0) return undefined
  return Float32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(4 * at))
}

function fromNumbers(embedding: unknown): Float32Array | undefined {
  if (!Array.isArray(embedding) || embedding.length > MAX_DIMENSIONS) return undefined
  return embedding.every((one) => typeof one === 'number')
    ? Float32Array.from(embedding)
    : undefined
}

function parse(answer: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(answer).toString('utf8'))
  } catch {
    return undefined
  }
}

function invalid(internal: string): EmbeddingError {
  return new EmbeddingError('embeddings_invalid', { internal: `the answer has ${internal}` })
}
