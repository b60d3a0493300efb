import type { Call } from '../operations/call.ts'
import type { FairQueue, Turn } from '../queues/fair-queue.ts'
import { createFairQueue } from '../queues/fair-queue.ts'
import { accountOf } from '../authority/principal.ts'

/** Edits, clones and apps from files that are made at once: each may hold 200 MiB of files. */
const AT_ONCE = 2
/** Those that wait. An edit at the limits takes about a second. */
const WAITING = 200

/** One for a process: edits are CPU work and held until they are stored, and clones keep the disk busy. */
export function createApplyingQueue(): FairQueue {
  return createFairQueue({ atOnce: AT_ONCE, waiting: WAITING })
}

/**
 * Runs work in the caller's turn, and what is made of one app one at a time. Of two edits of a revision one
 * is refused, and twins under one Idempotency-Key are to find what the first has made: at once, all but one
 * would be done for nothing. While work waits, the request's body may be evicted for another account, and the
 * work is not begun.
 *
 * @param app undefined for work that makes one
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

/** The turn of a prompt. It was accepted, so the queue never drops it; workers bound how many there are. */
export function turnOfWorker(target: Target, signal: AbortSignal): Turn {
  return { ...turnOf(target), signal, kept: true }
}

function turnOf({ account_id, app_id }: Target): Turn {
  return { holder: account_id, ...(app_id !== undefined && { subject: app_id }) }
}
