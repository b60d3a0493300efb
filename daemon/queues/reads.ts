import type { Limiter } from '../../lib/internal/limiter.ts'
import { createLimiter } from '../../lib/internal/limiter.ts'
import type { FairQueue, FairQueueOptions } from './fair-queue.ts'
import { createFairQueue } from './fair-queue.ts'
import { giveWay } from './steps.ts'

/** A fair queue in which each read begins after the other pending work of the event loop. */
export function createReadQueue(options: FairQueueOptions): FairQueue {
  const queue = createFairQueue(options)
  return (turn, read) =>
    queue(turn, async () => {
      await giveWay()
      return read()
    })
}

/** Accounts that search concurrently: most of them wait for the embedding model. */
const ACCOUNTS_AT_ONCE = 100
/** Maximum searches that wait. */
const WAITING = 200
/** Concurrent database reads of searches: one reads while the results of another are ranked. */
const READS_AT_ONCE = 2

/** Queue of knowledge searches. */
export interface SearchQueue {
  /** Runs whole searches, one per account at a time. */
  readonly accounts: FairQueue
  /** Runs their reads in order of arrival. */
  readonly reads: Limiter
}

/** One per process: a search reads much of an app's knowledge, and accounts share the database. */
export function createSearchQueue(): SearchQueue {
  return {
    accounts: createFairQueue({ atOnce: ACCOUNTS_AT_ONCE, waiting: WAITING }),
    reads: createLimiter(READS_AT_ONCE),
  }
}
