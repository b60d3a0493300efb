import type { Call } from '../../family.ts'
import type { FairQueue, Turn } from '../../fair-queue.ts'
import { createFairQueue } from '../../fair-queue.ts'
import { accountOf } from '../../principal.ts'

/**
 * Edits, clones and apps from files that are made at once, of different accounts: each may hold 200 MiB of
 * files.
 */
const AT_ONCE = 2
/** Those that wait, and those of one account. An edit at the limits takes about a second. */
const WAITING = 200
const WAITING_EACH = 50

/** One for a process: edits are CPU work and held until they are stored, and clones keep the disk busy. */
export function createApplyingQueue(): FairQueue {
  return createFairQueue({ atOnce: AT_ONCE, waiting: WAITING, each: WAITING_EACH })
}

/**
 * Runs work in the caller's turn: one edit, clone or app from files of an account at a time, so that no
 * account has both places. While it waits, the request's body may be evicted for another account, and the
 * work is not begun.
 */
export function applyInTurn<T>(
  { platform, principal, waiting }: Pick<Call, 'platform' | 'principal' | 'waiting'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const account = accountOf(principal)
  const { signal, begin } = waiting()
  return platform.applying({ holder: account, subject: account, signal }, async () => {
    await begin()
    return work(signal)
  })
}

/** The turn of a prompt. It was accepted, so the queue never drops it; workers bound how many there are. */
export function turnOfWorker(account: string, signal: AbortSignal): Turn {
  return { holder: account, subject: account, signal, kept: true }
}
