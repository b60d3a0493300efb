/**
 * An embedder turns texts into vectors, so that texts of similar meaning are near each other. It keeps
 * nothing: the store keeps vectors, and the daemon searches them.
 *
 * An implementation proves itself with `conformance`.
 *
 * @module
 */
export { EMBEDDING_ERRORS, EmbeddingError } from './errors.ts'
export type { EmbeddingErrorCode } from './errors.ts'

/** Maximum texts per call. */
export const MAX_TEXTS = 32
/** Maximum characters per text, in UTF-16 units. */
export const MAX_TEXT_CHARACTERS = 8000
/** Maximum numbers per vector. */
export const MAX_DIMENSIONS = 4096

export interface Embedder {
  /** Name of the model; vectors of different models cannot be compared. */
  readonly model: string
  /**
   * Returns one vector per text, in order: finite numbers, at most `MAX_DIMENSIONS`, and the same length in
   * every call. It does not retry. Calls may overlap.
   *
   * @param texts 1 to `MAX_TEXTS`, each of 1 to `MAX_TEXT_CHARACTERS` characters
   * @throws EmbeddingError, and the signal's reason once that has aborted
   * @throws TypeError for texts beyond these limits
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>
  /** Ends running and later calls as `embeddings_unavailable`. */
  close?(): Promise<void>
}
