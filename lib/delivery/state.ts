import type { Instant, Millis } from '../time.ts'

/** Where one delivery (one event for one webhook) stands. */
export type DeliveryStatus =
  'pending' | 'delivering' | 'succeeded' | 'exhausted' | 'blocked' | 'skipped' | 'canceled'

/** What made an attempt happen. */
export type AttemptTrigger = 'event' | 'retry' | 'manual' | 'test' | 'replay'

/** Why an attempt failed; `http_status` is an answer outside 200 to 299. */
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

/** What is sent again waits behind what is sent for the first time. */
export function isAgain(trigger: AttemptTrigger): boolean {
  return trigger === 'retry' || trigger === 'replay'
}

/** The part of a delivery that its transitions read and write. */
export interface DeliveryState {
  readonly status: DeliveryStatus
  /** Attempts finished so far, manual ones included. */
  readonly attempts: number
  /** Automatic attempts finished so far: the position in the retry schedule. */
  readonly automatic: number
  /** What the next attempt, or the one under way, is triggered by. */
  readonly trigger: AttemptTrigger
  /** When the next attempt is due; while delivering, when the claim's lease ends; null once final. */
  readonly next_at: Instant | null
  /** Why it is exhausted, where that is not its own attempts. */
  readonly end_reason: EndReason | null
}

/** `webhook_disabled`: it had failed, and its webhook was disabled before the next attempt. */
export type EndReason = 'webhook_disabled'

/** One finished attempt, as it is kept. */
export interface Attempt {
  readonly number: number
  readonly trigger: AttemptTrigger
  readonly started_at: Instant
  readonly duration: Millis
  readonly status_code: number | null
  readonly error: AttemptErrorCode | null
  /** The cause within `error`, as the sender reports it, such as `refused`; left out where none is known. */
  readonly error_reason?: string
  /** The first 4 KiB of the answer; null where none came or none may be kept. */
  readonly response: string | null
}

export const FINAL_STATUSES: readonly DeliveryStatus[] = [
  'succeeded',
  'exhausted',
  'blocked',
  'skipped',
  'canceled',
]

/** True for a status from which only a manual retry leads away. */
export function isFinal(status: DeliveryStatus): boolean {
  return FINAL_STATUSES.includes(status)
}
