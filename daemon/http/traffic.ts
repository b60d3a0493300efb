import type { Changes } from '../../lib/engine/changes.ts'
import type { Clock } from '../../lib/engine/ports.ts'
import type { KeyhookError } from '../../lib/errors.ts'
import type { Buckets } from '../limits/buckets.ts'
import { createBuckets } from '../limits/buckets.ts'
import { httpError } from '../operations/errors.ts'
import {
  ANONYMOUS_BODY_BYTES,
  ANONYMOUS_RESPONSE_BYTES,
  BODY_BYTES,
  BYTES_RETRY_AFTER,
  RESPONSE_BYTES,
} from '../limits/amounts.ts'
import type { Principal } from '../authority/principal.ts'
import type { FairPool, Lease } from '../limits/fair-pool.ts'
import { createFairPool } from '../limits/fair-pool.ts'
import type { FairQueue } from '../queues/fair-queue.ts'
import { createFairQueue } from '../queues/fair-queue.ts'
import type { BytesInProgress } from '../telemetry/metrics.ts'
import { holderOf } from '../authority/principal.ts'
import { LOOK_EVERY, createSweep } from './pace.ts'
import type { Streams } from './stream.ts'
import { createStreams } from './stream.ts'
import type { Sweep } from './pace.ts'
import type { Transfers } from './transfers.ts'
import { createTransfers } from './transfers.ts'
import type { BodyLease, RequestContext } from './state.ts'

/** Above the number of large bodies that the body pools have bytes for. */
const PARSES_WAITING = 1024

/** Bytes that requests and responses hold in this process, by holder. */
export interface BytePools {
  readonly bodies: FairPool
  readonly responses: FairPool
}

/**
 * Shared by the requests of this process on all listeners and mounts: bytes, streams, transfers and rates.
 * Its own pools are those of accounts and the operator.
 */
export interface Traffic extends BytePools {
  /** Bytes of anonymous networks: a separate pool, so that many networks cannot use up that of accounts. */
  readonly anonymous: BytePools
  /** Bodies being read, and responses being sent: a peer that is too slow is cut. */
  readonly moving: Sweep
  readonly clock: Pick<Clock, 'after' | 'steady'>
  readonly streams: Streams
  readonly transfers: Transfers
  /** Rate-limit tokens of callers and accounts. */
  readonly rates: Buckets
  /** Queue in which large bodies are parsed, which takes milliseconds per MiB. */
  readonly parsing: FairQueue
}

export interface TrafficPorts {
  readonly clock: Pick<Clock, 'after' | 'steady'>
  readonly changes: Changes
  /** Aborts when the process stops: streams end, and their clients reconnect elsewhere. Default: never. */
  readonly leaving?: AbortSignal | undefined
}

export interface TrafficLimits {
  /** Default `BODY_BYTES`. */
  readonly bodyBytes?: number
  /** Default `RESPONSE_BYTES`. */
  readonly responseBytes?: number
  /** Default `ANONYMOUS_BODY_BYTES`. */
  readonly anonymousBodyBytes?: number
  /** Default `ANONYMOUS_RESPONSE_BYTES`. */
  readonly anonymousResponseBytes?: number
}

/** Created once per process, and shared by everything that serves operations. */
export function createTraffic(
  { clock, changes, leaving = new AbortController().signal }: TrafficPorts,
  limits: TrafficLimits = {},
): Traffic {
  const {
    bodyBytes = BODY_BYTES,
    responseBytes = RESPONSE_BYTES,
    anonymousBodyBytes = ANONYMOUS_BODY_BYTES,
    anonymousResponseBytes = ANONYMOUS_RESPONSE_BYTES,
  } = limits
  return {
    bodies: createFairPool({ limit: bodyBytes }),
    responses: createFairPool({ limit: responseBytes }),
    anonymous: {
      bodies: createFairPool({ limit: anonymousBodyBytes }),
      responses: createFairPool({ limit: anonymousResponseBytes }),
    },
    moving: createSweep(clock, LOOK_EVERY),
    clock,
    streams: createStreams({ changes, clock, leaving }),
    transfers: createTransfers(),
    rates: createBuckets(),
    parsing: createFairQueue({ atOnce: 1, waiting: PARSES_WAITING }),
  }
}

/** The pools that count the bytes of a caller. */
export function poolsFor(principal: Principal | undefined, traffic: Traffic): BytePools {
  return principal === undefined ? traffic.anonymous : traffic
}

/** Bytes held in each pool now. */
export function bytesInProgress({ bodies, responses, anonymous }: Traffic): BytesInProgress {
  return {
    bodies: bodies.used,
    responses: responses.used,
    anonymous_bodies: anonymous.bodies.used,
    anonymous_responses: anonymous.responses.used,
  }
}

export function tooManyBytes(): KeyhookError {
  return httpError('too_many_bytes', { details: { retry_after: BYTES_RETRY_AFTER } })
}

/**
 * Reserves a body before it is read: its announced length, or else as it arrives.
 *
 * @param amount bytes that it holds when that is not its length
 * @param evict called when others need the bytes more
 * @throws KeyhookError `too_many_bytes`
 */
export function leaseBody(
  ctx: RequestContext,
  traffic: Traffic,
  evict: () => void,
  amount?: number,
): BodyLease {
  const announced = amount ?? Number(ctx.get('content-length') || 0)
  const { principal, address } = ctx.state
  const { bodies } = poolsFor(principal, traffic)
  const lease = bodies.take(holderOf(principal, address), announced, evict)
  if (lease === undefined) throw tooManyBytes()
  return announced > 0 ? new AnnouncedBody(lease) : lease
}

/** The lease of a body whose bytes were taken by its announced length. */
class AnnouncedBody implements BodyLease {
  readonly #lease: Lease

  constructor(lease: Lease) {
    this.#lease = lease
  }

  add(): boolean {
    return true
  }

  keep(): void {
    this.#lease.keep()
  }

  offer(evict: () => void): void {
    this.#lease.offer(evict)
  }

  release(): void {
    this.#lease.release()
  }
}
