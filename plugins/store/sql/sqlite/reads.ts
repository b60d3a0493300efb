import { LruCache } from '../../../../lib/internal/lru-cache.ts'
import type { Millis } from '../../../../lib/time.ts'
import { SECOND } from '../../../../lib/time.ts'

/** Runs a statement once it may be handed to the driver. */
export type StatementLimiter = <T>(work: () => Promise<T>, sql: string) => Promise<T>

/** One less than libuv's pool has threads by default. With none left for it, the writer waits until reads end. */
const LEAST_AT_ONCE = 3
/** More at once save no more turns of the event loop. */
const MOST_AT_ONCE = 16
/** A read is slow from here on, its callback included, for which the event loop may be busy. */
const SLOW: Millis = 10
/** Added for each that is with the driver: the connection runs them one by one. */
const SLOW_EACH: Millis = 2
/** How long a text counts as slow. */
const SLOW_FOR: Millis = SECOND
/** More are forgotten, and count as slow until they have run again. */
const MAX_TEXTS = 512

interface Waiting {
  readonly sql: string
  begin(isQuick: boolean): void
}

/**
 * Limits the reads of everybody that are with the driver at once, in the order of the calls.
 *
 * Three leave the writer a thread, however long they take. More save turns of the event loop, and take its thread
 * while the connection runs them one by one. So more are handed over only while all that are with the driver are of
 * texts that ran quickly before, and have not been slow for a second. One that turns slow is known once it ends:
 * until then the writer may wait for what was handed over with it.
 */
export function createReadLimiter(): StatementLimiter {
  /** When each text was slow last; `-Infinity`: never since it is known. */
  const texts = new LruCache<Millis>({ max: MAX_TEXTS })
  const waiting: Waiting[] = []
  let running = 0
  let slow = 0

  function enter(sql: string): boolean | undefined {
    const isQuick = performance.now() - (texts.get(sql) ?? Infinity) > SLOW_FOR
    if (running >= (isQuick && slow === 0 ? MOST_AT_ONCE : LEAST_AT_ONCE)) return undefined
    running += 1
    if (!isQuick) slow += 1
    return isQuick
  }

  function leave(isQuick: boolean): void {
    running -= 1
    if (!isQuick) slow -= 1
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      const entered = enter(next.sql)
      if (entered === undefined) return
      waiting.shift()
      next.begin(entered)
    }
  }

  return async (work, sql) => {
    const entered = waiting.length === 0 ? enter(sql) : undefined
    const isQuick = entered ?? (await new Promise<boolean>((begin) => waiting.push({ sql, begin })))
    const together = running
    const begun = performance.now()
    try {
      return await work()
    } finally {
      const now = performance.now()
      if (now - begun >= SLOW + SLOW_EACH * together) texts.set(sql, now)
      else if (texts.peek(sql) === undefined) texts.set(sql, -Infinity)
      leave(isQuick)
    }
  }
}
