import type { Limiter } from '../../lib/internal/limiter.ts'
import { createLimiter } from '../../lib/internal/limiter.ts'
import type { FairQueue, FairQueueOptions } from './fair-queue.ts'
import { createFairQueue } from './fair-queue.ts'
import { giveWay } from './steps.ts'

/** A fair queue in which each read begins after whatever else waits for the event loop. */
export function createReadQueue(options: FairQueueOptions): FairQueue {
  const queue = createFairQueue(options)
  return (turn, read) =>
    queue(turn, async () => {
      await giveWay()
      return read()
    })
}

/** Accounts that search at once: most of them wait for a model that makes vectors. */
const ACCOUNTS_AT_ONCE = 100
/** Maximum searches that wait. */
const WAITING = 200
/** Searches that read the database at once: one reads while what another found is ranked. */
const READS_AT_ONCE = 2

/** Where searches of knowledge wait. */
export interface SearchQueue {
  /** Runs whole searches, one of an account at a time. */
  readonly accounts: FairQueue
  /** Runs what they read, in the order in which they come to it. */
  readonly reads: Limiter
}

/** One for a process: a search reads much of what an app holds, and accounts share the database. */
export function createSearchQueue(): SearchQueue {
  return {
    accounts: createFairQueue({ atOnce: ACCOUNTS_AT_ONCE, waiting: WAITING }),
    reads: createLimiter(READS_AT_ONCE),
  }
}
