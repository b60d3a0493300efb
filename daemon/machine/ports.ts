import { randomFillSync } from 'node:crypto'
import type { Clock, RandomBytes } from '../../lib/engine/ports.ts'
import type { Store } from '../../plugins/store/contract.ts'

/** The machine's clock. Timers keep the process alive only while something is due. */
const systemClock: Clock = {
  now: () => Date.now(),
  steady: () => performance.now(),
  after(delay, run, kind) {
    const timer = setTimeout(run, delay)
    if (kind === 'background') timer.unref()
    return () => {
      clearTimeout(timer)
    }
  },
  // The end of the event loop's iteration: every request received by then has been read.
  taken: () => new Promise((resolve) => setImmediate(resolve)),
}

/** The clock that every process of a store shares. */
export function clockOf({ now }: Pick<Store, 'now'>): Clock {
  return now === undefined ? systemClock : { ...systemClock, now }
}

const POOL_BYTES = 8192

/** The machine's randomness, drawn in larger pieces because each draw costs a system call. */
export function createRandom(): RandomBytes {
  const pool = new Uint8Array(POOL_BYTES)
  let used = POOL_BYTES
  return (length) => {
    if (length > POOL_BYTES / 2) return randomFillSync(new Uint8Array(length))
    if (used + length > POOL_BYTES) {
      randomFillSync(pool)
      used = 0
    }
    const bytes = pool.slice(used, used + length)
    pool.fill(0, used, used + length)
    used += length
    return bytes
  }
}
