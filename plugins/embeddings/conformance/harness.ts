import assert from 'node:assert/strict'
import type { ConformanceCase, ConformanceHarness } from '../../conformance.ts'
import type { Embedder, EmbeddingErrorCode } from '../contract.ts'
import { EmbeddingError } from '../contract.ts'

/** What an embedder gives the suite; made anew for every case. */
export interface EmbedderHarness extends ConformanceHarness {
  readonly embedder: Embedder
  /**
   * Makes the next call hang until its signal aborts, and resolves once it has begun; given with the
   * capability `hangs`.
   */
  hang?(): Promise<void>
}

export type EmbedderCase = ConformanceCase<EmbedderHarness>

export function embed(
  { embedder }: EmbedderHarness,
  ...texts: readonly string[]
): Promise<readonly Float32Array[]> {
  return embedder.embed(texts, new AbortController().signal)
}

/** How alike the ways are that two vectors point: 1 for the same, 0 for nothing in common. */
export function cosine(a: Float32Array | undefined, b: Float32Array | undefined): number {
  assert.ok(a !== undefined && b !== undefined)
  const dot = (one: Float32Array, other: Float32Array): number =>
    one.reduce((sum, number, at) => sum + number * (other[at] ?? 0), 0)
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
}

export async function assertFails(
  work: Promise<unknown>,
  code: EmbeddingErrorCode,
): Promise<EmbeddingError> {
  const cause = await work.then(
    () => assert.fail('it was to fail'),
    (error: unknown) => error,
  )
  assert.ok(cause instanceof EmbeddingError, String(cause))
  assert.equal(cause.code, code)
  return cause
}
