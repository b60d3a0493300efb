import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import type { FairQueue } from '../queues/fair-queue.ts'
import type { Platform } from '../platform.ts'
import { createReadQueue } from '../queues/reads.ts'

const POLLS_AT_ONCE = 4

/**
 * One per process. Nothing is refused: a stream or a long poll makes one read at a time, and the process
 * bounds how many are open.
 */
export function createPollQueue(): FairQueue {
  return createReadQueue({ atOnce: POLLS_AT_ONCE, waiting: Infinity })
}

/** The queue that reads wait in. */
interface PollQueue {
  readonly queues: { readonly polls: FairQueue }
}

/** A client that waits for changes. */
export interface Follower {
  /** The account in whose turn reads run. */
  readonly holder: string
  /** Aborts once the client has left. */
  readonly left: AbortSignal
}

/**
 * Runs one read for a client in the turn of its account.
 *
 * @throws the reason of `left` when the client leaves before the read begins
 */
export function readInTurn<T>(
  { queues }: PollQueue,
  { holder, left }: Follower,
  read: () => Promise<T>,
): Promise<T> {
  return queues.polls({ holder, signal: left }, read)
}

/**
 * Polls, because another process may change what is read, until the client has left or `read` returns
 * undefined.
 *
 * @param read reads a bounded number of rows; with `more`, the next read follows at once
 * @throws the reason of `left` when the client leaves while a read waits for its turn
 */
export async function* poll<Found extends { readonly more: boolean }>(
  platform: Pick<Platform, 'clock'> & PollQueue,
  every: Millis,
  follower: Follower,
  read: () => Promise<Found | undefined>,
): AsyncGenerator<Found> {
  const { left } = follower
  while (!left.aborted) {
    const found = await readInTurn(platform, follower, read)
    if (found === undefined) return
    yield found
    if (!found.more) await pauseFor(platform.clock, every, left)
  }
}

/** Resolves after the delay, or once the client has left. */
export function pauseFor(
  clock: Pick<Clock, 'after'>,
  time: Millis,
  left: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    if (left.aborted) {
      resolve()
      return
    }
    const leave = (): void => {
      cancel()
      resolve()
    }
    const cancel = clock.after(time, () => {
      left.removeEventListener('abort', leave)
      resolve()
    })
    left.addEventListener('abort', leave, { once: true })
  })
}
