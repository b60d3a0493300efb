import type { FairQueue, FairQueueOptions } from './fair-queue.ts'
import { createFairQueue } from './fair-queue.ts'
import { giveWay } from './steps.ts'

/**
 * A fair queue in which reads of one holder run one at a time, so that no holder has all places. Each begins
 * after whatever else waits for the event loop.
 */
export function createReadQueue(options: FairQueueOptions): FairQueue {
  const queue = createFairQueue(options)
  return (turn, read) =>
    queue({ ...turn, subject: turn.holder }, async () => {
      await giveWay()
      return read()
    })
}
