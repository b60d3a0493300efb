import type { Instant, Millis } from '../time.ts'

/** Status of one delivery: one event for one webhook. */
export type DeliveryStatus =
  | 'pending'
  | 'delivering'
  | 'succeeded'
  | 'exhausted'
  | 'blocked'
  | 'skipped'
  | 'canceled'

/** What triggered an attempt. */
export type AttemptTrigger = 'event' | 'retry' | 'manual' | 'test' | 'replay'

/**
 * Why an attempt failed. `http_status`: a response outside 200 to 299. `destination`: the destination of a
 * webhook of another type did not accept the message.
 */
export type AttemptErrorCode =
  | 'dns'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'reset'
  | 'protocol'
  | 'aborted'
  | 'refused_address'
  | 'http_status'
  | 'destination'

/** Whether a trigger sends an event again: such deliveries wait behind first attempts. */
export function isRepeat(trigger: AttemptTrigger): boolean {
  return trigger === 'retry' || trigger === 'replay'
}

/** The fields of a delivery that transitions read and write. */
export interface DeliveryState {
  readonly status: DeliveryStatus
  /** Finished attempts, including manual ones. */
  readonly attempts: number
  /** Finished automatic attempts: the position in the retry schedule. */
  readonly automatic: number
  /** Trigger of the next attempt, or of the one in progress. */
  readonly trigger: AttemptTrigger
  /** When the next attempt is due; while delivering, when the claim's lease expires; null once final. */
  readonly next_at: Instant | null
  /** Why it is exhausted, when not by its own attempts; otherwise null. */
  readonly end_reason: EndReason | null
}

/** `webhook_disabled`: an attempt failed, and the webhook was disabled before the next one. */
export type EndReason = 'webhook_disabled'

/** One finished attempt, as stored. */
export interface Attempt {
  readonly number: number
  readonly trigger: AttemptTrigger
  readonly started_at: Instant
  readonly duration: Millis
  readonly status_code: number | null
  readonly error: AttemptErrorCode | null
  /** A more specific cause, such as `refused`; absent when unknown. */
  readonly error_reason?: string
  /** First 4 KiB of the response body; null when there is none or it may not be stored. */
  readonly response: string | null
}

export const FINAL_STATUSES: readonly DeliveryStatus[] = [
  'succeeded',
  'exhausted',
  'blocked',
  'skipped',
  'canceled',
]

/** Whether a status is final: only a manual retry leaves it. */
export function isFinal(status: DeliveryStatus): boolean {
  return FINAL_STATUSES.includes(status)
}
