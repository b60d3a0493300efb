import type { Instant, Millis } from '../time.ts'
import { HOUR, SECOND } from '../time.ts'
import type { AttemptErrorCode } from './state.ts'

/** How one request ended, as the sender reports it. */
export type SendResult =
  | {
      readonly ok: true
      readonly status: number
      readonly retryAfter: string | undefined
      readonly body: Uint8Array
      /** The target was private and listed by the operator: its answer is not kept. */
      readonly private: boolean
      readonly durationMs: Millis
    }
  | {
      readonly ok: false
      readonly code: Exclude<AttemptErrorCode, 'http_status'>
      /** The cause within `code`. Public. */
      readonly cause?: string
      readonly durationMs: Millis
    }

/**
 * What an attempt means for its delivery: `gone` ends the webhook (410), `blocked` is a target that
 * may not be reached and is not tried again.
 */
export type Verdict = 'succeeded' | 'failed' | 'gone' | 'blocked'

export interface Outcome {
  readonly verdict: Verdict
  readonly status_code: number | null
  readonly error: AttemptErrorCode | null
  readonly error_reason?: string
  /** The receiver's wish, a lower bound for the next delay; null when it made none. */
  readonly retryAfter: Millis | null
  readonly duration: Millis
  readonly response: string | null
}

/** A wish beyond a day is a day: a hostile `Retry-After` must not park a delivery for years. */
export const MAX_RETRY_AFTER: Millis = 24 * HOUR

const answerText = new TextDecoder('utf-8', { fatal: false })

/** Decides success by the status line alone: any 2xx, whatever happened to the body. */
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

/** Stored text refuses NUL, and what a receiver sends is arbitrary bytes. */
function keepText(body: Uint8Array): string {
  return answerText.decode(body).replaceAll('\u0000', '\uFFFD')
}

/**
 * Reads `Retry-After`, seconds or an HTTP date, clamped to 0…24 h; null for anything else.
 *
 * Source: RFC 9110, 10.2.3.
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
