import type { Call } from '../operations/call.ts'
import type { FairQueue, Turn } from '../queues/fair-queue.ts'
import { createFairQueue } from '../queues/fair-queue.ts'
import { accountOf } from '../authority/principal.ts'

/** Maximum concurrent edits, clones and apps from files: each may hold 200 MiB of files in memory. */
const AT_ONCE = 2
/** Maximum waiting ones. An edit at the limits takes about a second. */
const WAITING = 200

/** One per process: edits use CPU and memory, clones use the disk. */
export function createApplyingQueue(): FairQueue {
  return createFairQueue({ atOnce: AT_ONCE, waiting: WAITING })
}

/**
 * Runs work in the turn of the caller's account, one at a time per app. Of two edits of a revision one is
 * refused, and requests with the same Idempotency-Key return the result of the first: concurrently, all but
 * one would be done in vain. While work waits, the request's body may be evicted for another account; the work
 * is then not begun.
 *
 * @param app undefined for work that creates one
 */
export function applyInTurn<T>(
  { platform, principal, waiting }: Pick<Call, 'platform' | 'principal' | 'waiting'>,
  app: string | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, begin } = waiting()
  const turn = { ...turnOf({ account_id: accountOf(principal), app_id: app }), signal }
  return platform.queues.applying(turn, async () => {
    await begin()
    return work(signal)
  })
}

interface Target {
  readonly account_id: string
  readonly app_id: string | undefined
}

/** The turn of an accepted prompt: the queue never drops it. The workers limit how many there are. */
export function turnOfWorker(target: Target, signal: AbortSignal): Turn {
  return { ...turnOf(target), signal, kept: true }
}

function turnOf({ account_id, app_id }: Target): Turn {
  return { holder: account_id, ...(app_id !== undefined && { subject: app_id }) }
}
