import type { Call } from '../../family.ts'
import type { FairQueue, Turn } from '../../fair-queue.ts'
import { createFairQueue } from '../../fair-queue.ts'
import { accountOf } from '../../principal.ts'

/** Edits that are applied at once, of different accounts: each may hold 200 MiB of files. */
const AT_ONCE = 2
/** Edits that wait, and those of one account. An edit at the limits takes about a second. */
const WAITING = 200
const WAITING_EACH = 50

/** One for a process: applying edits is CPU work, and what it makes is held until it is stored. */
export function createApplyingQueue(): FairQueue {
  return createFairQueue({ atOnce: AT_ONCE, waiting: WAITING, each: WAITING_EACH })
}

/** One edit of an account at a time, so that no account has both places. */
export function turnOfCaller(call: Pick<Call, 'principal' | 'abandoned'>): Turn {
  const account = accountOf(call.principal)
  return { holder: account, subject: account, signal: call.abandoned() }
}

/** The turn of a prompt. It was accepted, so the queue never drops it; workers bound how many there are. */
export function turnOfWorker(account: string, signal: AbortSignal): Turn {
  return { holder: account, subject: account, signal, kept: true }
}
