/**
 * An embedder over any server that speaks OpenAI's embeddings.
 *
 * @module
 */
import type { Clock } from '../../lib/engine/ports.ts'
import { orAborted } from '../../lib/internal/until-aborted.ts'
import type { Millis } from '../../lib/time.ts'
import { MINUTE } from '../../lib/time.ts'
import type { Embedder } from './contract.ts'
import { EmbeddingError } from './contract.ts'
import { connectionFailure, statusFailure } from './openai/failures.ts'
import type { Ask } from './openai/port.ts'
import { readVectors } from './openai/vectors.ts'
import { requireTexts } from './texts.ts'

export type { Ask } from './openai/port.ts'

export interface OpenAiEmbedderOptions {
  /** Where the API begins, such as `https://models.example.com/v1`. */
  readonly baseUrl: string
  /** Sent as a bearer token; default none. */
  readonly apiKey?: string | undefined
  readonly model: string
  readonly ask: Ask
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly limits?: Partial<OpenAiEmbedderLimits>
}

export interface OpenAiEmbedderLimits {
  /** The most bytes of one answer; default 16 MiB. */
  readonly answer: number
  /** From a question to the end of its answer; default 1 min. */
  readonly time: Millis
}

const DEFAULT_LIMITS: OpenAiEmbedderLimits = { answer: 16 * 1_048_576, time: MINUTE }

/**
 * Creates an embedder that asks a model. How long its vectors are is what the first answer says: whatever
 * answers with others under the same name is another model.
 *
 * @example
 * const embedder = createOpenAiEmbedder({
 *   baseUrl: 'http://127.0.0.1:11434/v1', model: 'nomic-embed-text', ask, clock,
 * })
 */
export function createOpenAiEmbedder(options: OpenAiEmbedderOptions): Embedder {
  const { baseUrl, apiKey, model, ask, clock } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const closing = new AbortController()
  const underWay = new Set<Promise<unknown>>()
  let dimensions: number | undefined
  const request = {
    url: `${baseUrl.replace(/\/+$/, '')}/embeddings`,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    },
  }

  async function exchange(texts: readonly string[], signal: AbortSignal): Promise<Uint8Array> {
    // As numbers in text a vector is three times as long, and parsing it holds up everything else.
    const body = Buffer.from(JSON.stringify({ model, input: texts, encoding_format: 'base64' }))
    const answer = await ask({ ...request, body, signal })
    if (answer.status !== 200) {
      throw statusFailure(answer.status, answer.headers['retry-after'], clock.now())
    }
    const parts: Uint8Array[] = []
    let size = 0
    for await (const part of answer.body) {
      size += part.length
      if (size > limits.answer) {
        throw new EmbeddingError('embeddings_invalid', { internal: 'the answer is too long' })
      }
      parts.push(part)
    }
    return Buffer.concat(parts)
  }

  function requireLength(vectors: readonly Float32Array[]): void {
    const length = vectors[0]?.length
    dimensions ??= length
    if (length === dimensions) return
    const internal = `vectors of ${dimensions} numbers became such of ${length}`
    throw new EmbeddingError('embeddings_invalid', { internal })
  }

  async function embed(
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly Float32Array[]> {
    const stop = new AbortController()
    const cancel = clock.after(limits.time, () => {
      stop.abort(new EmbeddingError('embeddings_unavailable', { internal: 'no answer in time' }))
    })
    const any = AbortSignal.any([signal, closing.signal, stop.signal])
    try {
      any.throwIfAborted()
      const vectors = readVectors(await orAborted(exchange(texts, any), any), texts.length)
      requireLength(vectors)
      return vectors
    } catch (cause) {
      if (any.aborted) throw any.reason as Error
      throw cause instanceof EmbeddingError ? cause : connectionFailure(cause)
    } finally {
      cancel()
      // Of an answer that is not read to its end nothing is left open.
      stop.abort()
    }
  }

  return {
    model,
    async embed(texts, signal) {
      requireTexts(texts)
      const embedding = embed(texts, signal)
      underWay.add(embedding)
      try {
        return await embedding
      } finally {
        underWay.delete(embedding)
      }
    },
    async close() {
      closing.abort(new EmbeddingError('embeddings_unavailable', { internal: 'closed' }))
      await Promise.allSettled(underWay)
    },
  }
}
