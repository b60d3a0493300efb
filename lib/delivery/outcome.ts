import type { Instant, Millis } from '../time.ts'
import { HOUR, SECOND } from '../time.ts'
import type { AttemptErrorCode } from './state.ts'

/** The result of one request, as the sender reports it. */
export type SendResult =
  | {
      readonly ok: true
      readonly status: number
      readonly retryAfter: string | undefined
      readonly body: Uint8Array
      /** The target is a private address that the operator lists: its response body is not stored. */
      readonly private: boolean
      readonly durationMs: Millis
    }
  | {
      readonly ok: true
      /** A destination without HTTP has accepted the message. */
      readonly status: null
      readonly durationMs: Millis
    }
  | {
      readonly ok: false
      readonly code: Exclude<AttemptErrorCode, 'http_status'>
      /** A more specific cause, such as `refused`. Public. */
      readonly cause?: string
      readonly durationMs: Millis
    }

/**
 * What an attempt means for its delivery. `gone`: status 410, which disables the webhook. `blocked`: the
 * target is forbidden and is not retried.
 */
export type Verdict = 'succeeded' | 'failed' | 'gone' | 'blocked'

export interface Outcome {
  readonly verdict: Verdict
  readonly status_code: number | null
  readonly error: AttemptErrorCode | null
  readonly error_reason?: string
  /** From `Retry-After`: a lower bound of the next delay; null without one. */
  readonly retryAfter: Millis | null
  readonly duration: Millis
  readonly response: string | null
}

/** Upper bound: a hostile `Retry-After` must not delay a delivery for years. */
export const MAX_RETRY_AFTER: Millis = 24 * HOUR

const answerText = new TextDecoder('utf-8', { fatal: false })

/**
 * Judges a result by its status alone: any 2xx succeeds, even when its body could not be read. Without HTTP, what
 * was accepted has succeeded.
 */
export function judgeResult(result: SendResult, now: Instant): Outcome {
  if (!result.ok) {
    return {
      verdict: result.code === 'refused_address' ? 'blocked' : 'failed',
      status_code: null,
      error: result.code,
      ...(result.cause !== undefined && { error_reason: result.cause }),
      retryAfter: null,
      duration: result.durationMs,
      response: null,
    }
  }
  if (result.status === null) {
    const { durationMs: duration } = result
    const nothing = { status_code: null, error: null, retryAfter: null, response: null }
    return { verdict: 'succeeded', duration, ...nothing }
  }
  const success = result.status >= 200 && result.status <= 299
  return {
    verdict: success ? 'succeeded' : result.status === 410 ? 'gone' : 'failed',
    status_code: result.status,
    error: success ? null : 'http_status',
    retryAfter: success ? null : parseRetryAfter(result.retryAfter, now),
    duration: result.durationMs,
    response: result.private || result.body.length === 0 ? null : keepText(result.body),
  }
}

/** Decodes a response body, which may be any bytes. PostgreSQL stores no NUL in text. */
function keepText(body: Uint8Array): string {
  return answerText.decode(body).replaceAll('\u0000', '\uFFFD')
}

/**
 * Parses `Retry-After` (RFC 9110, 10.2.3): seconds or an HTTP date, clamped to 0…24 h; null for anything
 * else.
 *
 * @example
 * parseRetryAfter('120', 0) // 120000
 */
export function parseRetryAfter(value: string | undefined, now: Instant): Millis | null {
  if (value === undefined) return null
  const text = value.trim()
  const wish = /^\d{1,12}$/.test(text) ? Number(text) * SECOND : httpDate(text) - now
  return Number.isNaN(wish) ? null : Math.min(Math.max(wish, 0), MAX_RETRY_AFTER)
}

function httpDate(text: string): number {
  return /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)
    ? Date.parse(text)
    : NaN
}
