import type { Store, StoreTx } from '../plugins/store/contract.ts'
import type { Call } from './family.ts'
import type { FairQueue } from './fair-queue.ts'
import { createFairQueue } from './fair-queue.ts'
import { holderOf } from './principal.ts'

/** Units of work at once: while one is committed, the next is ready, so the writer is never idle. */
const AT_ONCE = 2
/** The same where processes share a database: a unit ends once the others know what it changed. */
const AT_ONCE_SHARED = 8
/** Units of work that wait, and those of one account. One takes about a millisecond. */
const WAITING = 2000
const WAITING_EACH = 500

/** One for a process: a database has one writer, which requests take in turn of their accounts. */
export function createWriteQueue({ manyProcesses }: Pick<Store, 'manyProcesses'>): FairQueue {
  const atOnce = manyProcesses === true ? AT_ONCE_SHARED : AT_ONCE
  return createFairQueue({ atOnce, waiting: WAITING, each: WAITING_EACH })
}

/**
 * Runs a unit of work in turn of the caller's account. While it waits, the request's body may give way to
 * others, and the unit is not begun for a client that left.
 *
 * A unit must not wait for another one: both might need the same place.
 *
 * @throws KeyhookError `rate_limited` when too many of the account wait
 */
export function writeInTurn<T>(
  { platform, principal, ip, waiting }: Pick<Call, 'platform' | 'principal' | 'ip' | 'waiting'>,
  work: (tx: StoreTx) => Promise<T>,
): Promise<T> {
  const { signal, begin } = waiting()
  return platform.writes({ holder: holderOf(principal, ip), signal }, () => {
    begin()
    return platform.store.write(work)
  })
}

/**
 * Runs a unit of work that completes what a request has begun: in turn too, but never refused, since its
 * caller bounds how many there are.
 */
export function writeBegun<T>(
  { platform, principal, ip }: Pick<Call, 'platform' | 'principal' | 'ip'>,
  work: (tx: StoreTx) => Promise<T>,
): Promise<T> {
  const turn = { holder: holderOf(principal, ip), kept: true }
  return platform.writes(turn, () => platform.store.write(work))
}
