import type { PlatformStore, PlatformTx } from '../../plugins/platform/contract.ts'
import type { Call } from '../operations/call.ts'
import type { FairQueue } from './fair-queue.ts'
import { createFairQueue } from './fair-queue.ts'
import { holderOf } from '../authority/principal.ts'

/** Maximum concurrent units of work. While one commits, the next is ready: the writer is never idle. */
const AT_ONCE = 2
/**
 * The same where processes share a database. A committed unit waits until the other processes have its
 * changes, without holding the writer.
 */
const AT_ONCE_SHARED = 8
/** Maximum units of work that wait. One takes about a millisecond. */
const WAITING = 2000

/** One per process: a database has one writer, which accounts use in turn. */
export function createWriteQueue({
  manyProcesses,
}: Pick<PlatformStore, 'manyProcesses'>): FairQueue {
  const atOnce = manyProcesses === true ? AT_ONCE_SHARED : AT_ONCE
  return createFairQueue({ atOnce, waiting: WAITING })
}

/**
 * Runs a unit of work in the turn of the caller's account. While it waits, the request's body may be
 * evicted, and it does not begin once the client has disconnected.
 *
 * A unit must not run another one inside: if such units held all slots, none could continue.
 *
 * @throws KeyhookError `rate_limited` when too many wait, and most belong to the account
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
 * Runs a unit of work that completes a request: also in turn, but never refused. Its caller bounds their
 * number.
 */
export function writeBegun<T>(
  { platform, principal, ip }: Pick<Call, 'platform' | 'principal' | 'ip'>,
  work: (tx: PlatformTx) => Promise<T>,
): Promise<T> {
  const turn = { holder: holderOf(principal, ip), kept: true }
  return platform.queues.writes(turn, () => platform.store.write(work))
}
