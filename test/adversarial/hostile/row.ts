import type { AttemptErrorCode, DeliveryStatus } from '../../../lib/delivery/state.ts'
import type { StartHostile } from './server.ts'

/** One way in which a receiver misbehaves, and what is recorded of an attempt at it. */
export interface HostileRow {
  readonly case: string
  readonly start: StartHostile
  readonly recorded: Recorded
  /** Whether the attempt ends by itself or only when its time is up. */
  readonly ends: 'itself' | 'deadline'
  /** Seconds until the next attempt where the receiver has a say in it; jitter adds a tenth at most. */
  readonly retryAfter?: number
  /** What the event carries beside its name; more than socket buffers hold where that matters. */
  readonly padding?: number
  /** It disables its webhook, so it cannot be sent to again and again. */
  readonly once?: true
}

export interface Recorded {
  readonly status: DeliveryStatus
  readonly status_code: number | null
  readonly error: AttemptErrorCode | null
}

/** No status line came: it is tried again. */
export function lost(error: AttemptErrorCode): Recorded {
  return { status: 'pending', status_code: null, error }
}

/** The status line decides, whatever followed it. */
export function answered(status: number): Recorded {
  if (status >= 200 && status <= 299) {
    return { status: 'succeeded', status_code: status, error: null }
  }
  return { status: 'pending', status_code: status, error: 'http_status' }
}
