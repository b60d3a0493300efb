import { z } from 'zod'
import { EmbeddingError, MAX_DIMENSIONS, MAX_TEXT_CHARACTERS, MAX_TEXTS } from './contract.ts'

/** @throws TypeError for texts beyond the limits of a call */
export function requireTexts(texts: readonly string[]): void {
  const fits = texts.every(({ length }) => length > 0 && length <= MAX_TEXT_CHARACTERS)
  if (fits && texts.length > 0 && texts.length <= MAX_TEXTS) return
  throw new TypeError(
    `an embedder takes 1 to ${MAX_TEXTS} texts of 1 to ${MAX_TEXT_CHARACTERS} characters`,
  )
}

const answerSchema = z.object({
  data: z.array(
    z.object({ index: z.number().int().nonnegative().nullish(), embedding: z.unknown() }),
  ),
})

/**
 * The vectors of a response, in the order of the texts: base64 of little-endian floats as requested, or
 * numbers from servers that do not support base64.
 *
 * @throws EmbeddingError `embeddings_invalid` unless there is one usable vector per text, all of one length
 */
export function readVectors(answer: Uint8Array, count: number): readonly Float32Array[] {
  const read = answerSchema.safeParse(parse(answer))
  if (!read.success) throw invalid('no list of vectors')
  const vectors = new Map<number, Float32Array>()
  for (const [position, { index, embedding }] of read.data.data.entries()) {
    vectors.set(index ?? position, readVector(embedding))
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
