import type { Limiter } from '../../../../lib/internal/limiter.ts'

/**
 * One less than libuv's pool has threads by default. With none left for it, the writer waits until reads end.
 */
const LEAST_AT_ONCE = 3
/** More at once save no more turns of the event loop. */
const MOST_AT_ONCE = 16
/** A read is quick when it took less than this for itself and for each that was with the driver beside it. */
const QUICK_MS = 1

/**
 * Limits the reads of everybody that are with the driver at once, in the order of the calls.
 *
 * Three leave the writer a thread, however long they take. Each further one saves turns of the event loop, and
 * lets the writer wait for one more read: with each quick read the limit grows by one, and after a slow one it
 * is three again.
 */
export function createReadLimiter(): Limiter {
  const waiting: (() => void)[] = []
  let most = LEAST_AT_ONCE
  let running = 0

  function begin(): void {
    while (running < most) {
      const next = waiting.shift()
      if (next === undefined) return
      running += 1
      next()
    }
  }

  return async (work) => {
    if (running < most) running += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    const together = running
    const begun = performance.now()
    try {
      return await work()
    } finally {
      running -= 1
      const isQuick = performance.now() - begun < QUICK_MS * together
      most = isQuick ? Math.min(most + 1, MOST_AT_ONCE) : LEAST_AT_ONCE
      begin()
    }
  }
}
