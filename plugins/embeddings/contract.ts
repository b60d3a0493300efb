/**
 * Turning texts into vectors, such that texts which mean the same lie near each other. What is kept of
 * them, and the search, are the store's and the daemon's: an embedder is given texts, answers vectors, and
 * keeps nothing.
 *
 * An implementation proves itself with `conformance`.
 *
 * @module
 */
export { EMBEDDING_ERRORS, EmbeddingError } from './errors.ts'
export type { EmbeddingErrorCode } from './errors.ts'

/** The most texts of one call. */
export const MAX_TEXTS = 32
/** The most characters of one text, in UTF-16 units. */
export const MAX_TEXT_CHARACTERS = 8000
/** The most numbers of one vector. */
export const MAX_DIMENSIONS = 4096

export interface Embedder {
  /** What answers: vectors of another model cannot be compared with its own. */
  readonly model: string
  /**
   * Answers a vector for each text, in their order: finite numbers, as many in each one that it ever
   * answers, and `MAX_DIMENSIONS` at most. Nothing is asked twice: whoever wants an answer tries again.
   * Calls may overlap.
   *
   * @param texts 1 to `MAX_TEXTS`, each of 1 to `MAX_TEXT_CHARACTERS` characters
   * @throws EmbeddingError, and the signal's reason once that has aborted
   * @throws TypeError for texts beyond these limits
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>
  /** Ends what is under way as `embeddings_unavailable`, and everything given to it later. */
  close?(): Promise<void>
}
