import type { Millis } from '../time.ts'
import { SECOND } from '../time.ts'
import type { Change, OwnChanges } from './changes.ts'
import { createChanges } from './changes.ts'
import type { Clock } from './ports.ts'

/** How long a process may go by what it keeps without having asked the store. */
export const LEASE: Millis = 2 * SECOND
/** A process asks this often, so that a few lost answers cost nothing. */
export const RENEW_EVERY: Millis = LEASE / 4
/** Clocks that measure a lease may run this much apart. */
const DRIFT: Millis = 20 + LEASE / 100
/** By how much the calendar may outrun the steady clock: more, and this machine was asleep. */
const SLEPT: Millis = 200

/** What one question to the shared store answers. */
export interface Round {
  /** The number of the last change. */
  readonly seq: number
  /** Changes beyond the one asked from, in their order. */
  readonly changes: readonly Change[]
}

/** The shared store, as a process that caches sees it. */
export interface LeasePort {
  /**
   * Grants this process a lease of `LEASE` from some moment after the call, and answers every change
   * beyond `seq` that was committed before the grant: whoever commits one later sees the grant.
   */
  renew(seq: number): Promise<Round>
  /** Says that every change up to `seq` is known here. */
  acknowledge(seq: number): Promise<void>
}

/** A process's leave to go by what it keeps. */
export interface Lease {
  readonly changes: OwnChanges
  /** Asks the store once, and takes in what changed. Called every `RENEW_EVERY` and at every hint. */
  renew(): Promise<void>
  /** Gives it up for good: from here on nothing kept is used, and the store is asked no more. */
  end(): void
}

/**
 * The reading side of changes that hold at once in every process.
 *
 * The lease is counted from before the store was asked, so it ends here before the store believes it
 * does; whoever changes something waits until each process has acknowledged it, or can no longer have a
 * lease. A process whose lease ended forgets everything, since what it missed may not be kept any more.
 */
export function createLease(port: LeasePort, clock: Pick<Clock, 'now' | 'steady'>): Lease {
  let until = -Infinity
  let asleepFrom = -Infinity
  let applied = 0
  let running: Promise<void> | undefined
  let again = false
  let isEnded = false

  const isCurrent = (): boolean => !isEnded && clock.steady() < until && clock.now() < asleepFrom
  const changes = createChanges(isCurrent)

  async function ask(): Promise<void> {
    const began = clock.steady()
    const day = clock.now()
    const isHeld = isCurrent()
    const { seq, changes: made } = await port.renew(applied)
    if (!isHeld || clock.steady() >= began + LEASE) changes.tell('all')
    else for (const change of made) changes.tell(change)
    const isNews = seq > applied
    applied = seq
    until = began + LEASE - DRIFT
    asleepFrom = day + LEASE + SLEPT
    if (isNews) await port.acknowledge(seq)
  }

  async function askWhileHinted(): Promise<void> {
    while (again && !isEnded) {
      again = false
      await ask()
    }
  }

  return {
    changes,
    renew() {
      again = true
      running ??= askWhileHinted().finally(() => {
        running = undefined
      })
      return running
    },
    end() {
      isEnded = true
    },
  }
}
