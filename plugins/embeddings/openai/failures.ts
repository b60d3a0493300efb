import type { Instant, Millis } from '../../../lib/time.ts'
import type { EmbeddingErrorCode } from '../contract.ts'
import { EmbeddingError } from '../contract.ts'

const STATUSES: Readonly<Record<number, EmbeddingErrorCode>> = {
  408: 'embeddings_unavailable',
  409: 'embeddings_unavailable',
  425: 'embeddings_unavailable',
  429: 'embeddings_rate_limited',
}

/** What a status other than 200 means. What the server wrote is not read: some repeat the key, or the text. */
export function statusFailure(
  status: number,
  retryAfter: string | undefined,
  now: Instant,
): EmbeddingError {
  const code = STATUSES[status] ?? (status >= 500 ? 'embeddings_unavailable' : 'embeddings_refused')
  return new EmbeddingError(code, {
    internal: `status ${status}`,
    wait: readWait(retryAfter, now),
  })
}

/** Why there was no status line, or no whole answer after it. */
export function connectionFailure(cause: unknown): EmbeddingError {
  const isFinal = cause instanceof Error && 'final' in cause && cause.final === true
  const code = isFinal ? 'embeddings_refused' : 'embeddings_unavailable'
  return new EmbeddingError(code, { internal: 'the connection failed' })
}

/** `Retry-After`, in seconds or as a date; undefined for anything else. */
function readWait(value: string | undefined, now: Instant): Millis | undefined {
  if (value === undefined) return undefined
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
