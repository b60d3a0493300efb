import type { Millis } from '../time.ts'
import { SECOND } from '../time.ts'
import type { Change, OwnChanges } from './changes.ts'
import { createChanges } from './changes.ts'
import type { Clock } from './ports.ts'

/** How long a process may use its caches without contacting the store. */
export const LEASE: Millis = 2 * SECOND
/** Interval of renewals: a few lost responses do not end a lease. */
export const RENEW_EVERY: Millis = LEASE / 4
/** Maximum difference of the clocks that measure one lease. */
export const DRIFT: Millis = 20 + LEASE / 100
/** Maximum lead of the wall clock over the monotonic one. A larger one means that the machine was suspended. */
const MAX_LEAD: Millis = 200

/** The response of the shared store to a renewal. */
export interface LeaseRenewal {
  /** The number of the last change. */
  readonly seq: number
  /** Changes after the last known one, in order. */
  readonly changes: readonly Change[]
}

/** Numbers of changes. */
export interface LeaseState {
  /** The last that this process has applied. */
  readonly known: number
  /** The last that also all have applied that this process passes changes on to. */
  readonly acknowledged: number
}

/** A caching process's view of the shared store. */
export interface LeasePort {
  /**
   * Grants this process a lease of `LEASE` from some moment after the call, and returns every change after
   * `known` that was committed before the grant. A later commit sees the grant. Acknowledges every change up
   * to `acknowledged`.
   */
  renew(state: LeaseState): Promise<LeaseRenewal>
  /** Acknowledges every change up to `seq`. */
  acknowledge(seq: number): Promise<void>
}

/** The permission of a process to use its caches. */
export interface Lease {
  readonly changes: OwnChanges
  /** Renews the lease and emits changes. To be called every `RENEW_EVERY` and at every notification. */
  renew(): Promise<void>
  /** Ends the lease for good: from now on no cache is used and the store is not contacted. */
  end(): void
}

/**
 * The reading side of changes that take effect at once in every process.
 *
 * The lease is measured from before the request, so it expires here before it does in the store. A writer
 * waits until each process has acknowledged its change or has lost its lease. A process whose lease
 * expired drops all caches, since the store may no longer have the changes that it missed.
 *
 * A process that passes changes on acknowledges them once they are applied there too. It goes on renewing
 * meanwhile: what it leases to others ends with its own lease at the latest.
 */
export function createLease(port: LeasePort, clock: Pick<Clock, 'now' | 'steady'>): Lease {
  let until = -Infinity
  let suspendedFrom = -Infinity
  let known = 0
  let acknowledged = 0
  /** The changes that are being passed on, in order; undefined when there are none. */
  let passing: Promise<void> | undefined
  let running: Promise<void> | undefined
  let requested = false
  let isEnded = false

  const remaining = (): Millis =>
    isEnded ? 0 : Math.max(0, Math.min(until - clock.steady(), suspendedFrom - clock.now()))
  const changes = createChanges(remaining)
  const { isCurrent } = changes

  async function renewOnce(): Promise<void> {
    const began = clock.steady()
    const wall = clock.now()
    const isHeld = isCurrent()
    const { seq, changes: renewed } = await port.renew({ known, acknowledged })
    const isLate = !isHeld || clock.steady() >= began + LEASE
    const passed = isLate ? changes.emit('all') : changes.emit(...renewed)
    const hasChanged = seq > known
    known = seq
    until = began + LEASE - DRIFT
    suspendedFrom = wall + LEASE + MAX_LEAD
    if (passed !== undefined || passing !== undefined) acknowledgeLater(seq, passed)
    else if (hasChanged) await acknowledge(seq)
  }

  async function acknowledge(seq: number): Promise<void> {
    acknowledged = seq
    await port.acknowledge(seq)
  }

  /** In order: an acknowledged change includes all before it. When it fails, the next renewal acknowledges. */
  function acknowledgeLater(seq: number, passed: Promise<void> | undefined): void {
    const own: Promise<void> = Promise.all([passing, passed]).then(async () => {
      if (passing === own) passing = undefined
      await acknowledge(seq).catch(() => undefined)
    })
    passing = own
  }

  async function renewWhileRequested(): Promise<void> {
    while (requested && !isEnded) {
      requested = false
      await renewOnce()
    }
  }

  return {
    changes,
    renew() {
      requested = true
      running ??= renewWhileRequested().finally(() => {
        running = undefined
      })
      return running
    },
    end() {
      isEnded = true
    },
  }
}
