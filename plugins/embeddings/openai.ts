/**
 * An embedder over any server that speaks OpenAI's embeddings.
 *
 * @module
 */
import type { Clock } from '../../lib/engine/ports.ts'
import { orAborted } from '../../lib/internal/until-aborted.ts'
import type { Millis } from '../../lib/time.ts'
import { MINUTE } from '../../lib/time.ts'
import type { ModelServer, RequestFailure } from '../openai-client.ts'
import { createModelClient, readFailure, statusOnly } from '../openai-client.ts'
import type { Embedder, EmbeddingErrorCode } from './contract.ts'
import { EmbeddingError } from './contract.ts'
import { readVectors, requireTexts } from './vectors.ts'

export interface OpenAiEmbedderOptions extends ModelServer {
  readonly model: string
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly limits?: Partial<OpenAiEmbedderLimits>
}

export interface OpenAiEmbedderLimits {
  /** Maximum bytes of one response; default 16 MiB. */
  readonly answer: number
  /** From a request to the end of its response; default 1 min. */
  readonly time: Millis
}

const DEFAULT_LIMITS: OpenAiEmbedderLimits = { answer: 16 * 1_048_576, time: MINUTE }

/**
 * Creates an embedder over a model. The first response sets the length of its vectors: another length under
 * the same name is another model.
 *
 * @example
 * const embedder = createOpenAiEmbedder({
 *   baseUrl: 'http://127.0.0.1:11434/v1', model: 'nomic-embed-text', fetch, clock,
 * })
 */
export function createOpenAiEmbedder(options: OpenAiEmbedderOptions): Embedder {
  const { model, clock } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const client = createModelClient(options)
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()
  let dimensions: number | undefined

  async function request(texts: readonly string[], signal: AbortSignal): Promise<Uint8Array> {
    // Vectors printed as numbers are three times as long, and parsing them blocks the event loop.
    const encoding_format = 'base64'
    const { status, body } = await client.embeddings
      .create({ model, input: [...texts], encoding_format }, { signal })
      .asResponse()
    if (status !== 200 || body === null) throw requestFailure(statusOnly(status))
    const parts: Uint8Array[] = []
    let size = 0
    for await (const part of body) {
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
      const vectors = readVectors(await orAborted(request(texts, any), any), texts.length)
      requireLength(vectors)
      return vectors
    } catch (cause) {
      if (any.aborted) throw any.reason as Error
      if (cause instanceof EmbeddingError) throw cause
      throw requestFailure(readFailure(cause, clock.now()))
    } finally {
      cancel()
      // Closes the connection of a response that was not read to its end.
      stop.abort()
    }
  }

  return {
    model,
    async embed(texts, signal) {
      requireTexts(texts)
      const embedding = embed(texts, signal)
      running.add(embedding)
      try {
        return await embedding
      } finally {
        running.delete(embedding)
      }
    },
    async close() {
      closing.abort(new EmbeddingError('embeddings_unavailable', { internal: 'closed' }))
      await Promise.allSettled(running)
    },
  }
}

const STATUSES: Readonly<Record<number, EmbeddingErrorCode>> = {
  408: 'embeddings_unavailable',
  409: 'embeddings_unavailable',
  425: 'embeddings_unavailable',
  429: 'embeddings_rate_limited',
}

/** The error of a request without an answer: no status line, no whole body after it, or not status 200. */
function requestFailure({ status, wait, isFinal, internal }: RequestFailure): EmbeddingError {
  const unavailable = status === undefined ? !isFinal : status >= 500
  const code = unavailable ? 'embeddings_unavailable' : 'embeddings_refused'
  return new EmbeddingError(STATUSES[status ?? 0] ?? code, { internal, wait })
}
