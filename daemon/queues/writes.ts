import type { PlatformStore, PlatformTx } from '../../plugins/platform/contract.ts'
import type { Call } from '../operations/call.ts'
import type { FairQueue } from './fair-queue.ts'
import { createFairQueue } from './fair-queue.ts'
import { holderOf } from '../authority/principal.ts'

/** Maximum concurrent units of work. While one commits, the next is ready: the writer is never idle. */
const AT_ONCE = 2
/**
 * The same where processes share a database. A committed unit waits until the other processes know its
 * changes, and does not hold the writer meanwhile.
 */
const AT_ONCE_SHARED = 8
/** Maximum units of work that wait. One takes about a millisecond. */
const WAITING = 2000

/** One for a process: a database has one writer, which the accounts take in turn. */
export function createWriteQueue({
  manyProcesses,
}: Pick<PlatformStore, 'manyProcesses'>): FairQueue {
  const atOnce = manyProcesses === true ? AT_ONCE_SHARED : AT_ONCE
  return createFairQueue({ atOnce, waiting: WAITING })
}

/**
 * Runs a unit of work when it is the turn of the caller's account. While it waits, the request's body may
 * be evicted for others, and the unit is not begun once the client has disconnected.
 *
 * A unit must not run another one inside: with all places taken by such units, none could go on.
 *
 * @throws KeyhookError `rate_limited` when too many wait, and most are of the account
 */
export function writeInTurn<T>(
  { platform, principal, ip, waiting }: Pick<Call, 'platform' | 'principal' | 'ip' | 'waiting'>,
  work: (tx: PlatformTx) => Promise<T>,
): Promise<T> {
  const { signal, begin } = waiting()
  return platform.queues.writes({ holder: holderOf(principal, ip), signal }, async () => {
    await begin()
    return platform.store.write(work)
  })
}

/**
 * Runs a unit of work that completes what a request has begun: also in turn, but never refused. Its caller
 * bounds how many there are.
 */
export function writeBegun<T>(
  { platform, principal, ip }: Pick<Call, 'platform' | 'principal' | 'ip'>,
  work: (tx: PlatformTx) => Promise<T>,
): Promise<T> {
  const turn = { holder: holderOf(principal, ip), kept: true }
  return platform.queues.writes(turn, () => platform.store.write(work))
}
