import type { PlatformStore, PlatformTx } from '../../plugins/platform/contract.ts'
import type { WriteOptions } from '../../lib/engine/ports.ts'
import type { Call } from '../operations/call.ts'
import type { FairQueue } from './fair-queue.ts'
import { createFairQueue } from './fair-queue.ts'
import type { Principal } from '../authority/principal.ts'
import { holderOf } from '../authority/principal.ts'

/** Maximum concurrent units of work. While one commits, the next is ready: the writer is never idle. */
const AT_ONCE = 2
/** The same where processes share a database: each unit waits for its statements to cross a network. */
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
  const turn = { holder: holderOf(principal, ip), signal }
  return inTurn({ platform, principal }, turn, async (options) => {
    await begin()
    return platform.store.write(work, options)
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
  return inTurn({ platform, principal }, turn, (options) => platform.store.write(work, options))
}

/**
 * Gives the turn to others at the commit: that a change is applied everywhere may take as long as a lease. A unit that
 * found a change of its account made, and made none itself, waits for it too.
 */
async function inTurn<T>(
  { platform, principal }: Pick<Call, 'platform'> & { readonly principal: Principal | undefined },
  turn: Parameters<FairQueue>[0],
  write: (options: WriteOptions) => Promise<T>,
): Promise<T> {
  const applied: Promise<void>[] = []
  const whenApplied = (later: Promise<void>): unknown => applied.push(later)
  const result = await platform.queues.writes(turn, () => write({ whenApplied }))
  const account = principal?.account_id ?? null
  const settled = account === null ? undefined : platform.keyCaches.settled(account)
  await Promise.all([...applied, settled])
  return result
}
