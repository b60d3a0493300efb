import type { Clock } from '../../lib/engine/ports.ts'
import type { KeyhookError } from '../../lib/errors.ts'
import { httpError } from '../errors.ts'
import {
  ANONYMOUS_BODY_BYTES,
  ANONYMOUS_RESPONSE_BYTES,
  BODY_BYTES,
  BYTES_RETRY_AFTER,
  RESPONSE_BYTES,
} from '../limits.ts'
import type { Principal } from '../principal.ts'
import type { FairPool } from '../fair-pool.ts'
import { createFairPool } from '../fair-pool.ts'
import { LOOK_EVERY } from './pace.ts'
import type { Sweep } from './sweep.ts'
import { createSweep } from './sweep.ts'

/** Bytes that requests and responses hold of this process, by holder. */
export interface BytePools {
  readonly bodies: FairPool
  readonly responses: FairPool
}

/** The bytes of accounts and of the operator, and in pools of their own those of anonymous networks. */
export interface Traffic extends BytePools {
  /** Separate, so that many networks cannot hold what accounts share. */
  readonly anonymous: BytePools
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
  /** Default `ANONYMOUS_BODY_BYTES`. */
  readonly anonymousBodyBytes?: number
  /** Default `ANONYMOUS_RESPONSE_BYTES`. */
  readonly anonymousResponseBytes?: number
}

/** To be made once for a process, and handed to everything that serves its operations. */
export function createTraffic({
  clock,
  bodyBytes = BODY_BYTES,
  responseBytes = RESPONSE_BYTES,
  anonymousBodyBytes = ANONYMOUS_BODY_BYTES,
  anonymousResponseBytes = ANONYMOUS_RESPONSE_BYTES,
}: TrafficOptions): Traffic {
  return {
    bodies: createFairPool({ limit: bodyBytes }),
    responses: createFairPool({ limit: responseBytes }),
    anonymous: {
      bodies: createFairPool({ limit: anonymousBodyBytes }),
      responses: createFairPool({ limit: anonymousResponseBytes }),
    },
    moving: createSweep(clock, LOOK_EVERY),
    clock,
  }
}

/** The pools that the bytes of a caller are counted in. */
export function poolsFor(principal: Principal | undefined, traffic: Traffic): BytePools {
  return principal === undefined ? traffic.anonymous : traffic
}

export function tooManyBytes(): KeyhookError {
  return httpError('too_many_bytes', { details: { retry_after: BYTES_RETRY_AFTER } })
}
