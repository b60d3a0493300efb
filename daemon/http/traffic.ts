import type { Clock } from '../../lib/engine/ports.ts'
import type { KeyhookError } from '../../lib/errors.ts'
import { httpError } from '../errors.ts'
import { BODY_BYTES, BYTES_RETRY_AFTER, RESPONSE_BYTES } from '../limits.ts'
import type { FairPool } from './fair-pool.ts'
import { createFairPool } from './fair-pool.ts'
import { LOOK_EVERY } from './pace.ts'
import type { Sweep } from './sweep.ts'
import { createSweep } from './sweep.ts'

/** Bytes that requests and responses hold of this process, shared by the accounts they are counted for. */
export interface Traffic {
  readonly bodies: FairPool
  readonly responses: FairPool
  /** Bodies that are being read, and responses that were begun: those whose peer is too slow are cut. */
  readonly moving: Sweep
  readonly clock: Pick<Clock, 'after' | 'steady'>
}

export interface TrafficOptions {
  readonly clock: Pick<Clock, 'after' | 'steady'>
  /** Default `BODY_BYTES`. */
  readonly bodyBytes?: number
  /** Default `RESPONSE_BYTES`. */
  readonly responseBytes?: number
}

/** To be made once for a process, and handed to everything that serves its operations. */
export function createTraffic({
  clock,
  bodyBytes = BODY_BYTES,
  responseBytes = RESPONSE_BYTES,
}: TrafficOptions): Traffic {
  return {
    bodies: createFairPool({ limit: bodyBytes }),
    responses: createFairPool({ limit: responseBytes }),
    moving: createSweep(clock, LOOK_EVERY),
    clock,
  }
}

export function tooManyBytes(): KeyhookError {
  return httpError('too_many_bytes', { details: { retry_after: BYTES_RETRY_AFTER } })
}
