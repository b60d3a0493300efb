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
