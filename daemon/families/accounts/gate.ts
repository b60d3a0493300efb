import { httpError } from '../../errors.ts'

/** Runs work when there is room for it. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>

const RETRY_AFTER_SECONDS = 2

/**
 * Lets in so much work at once; more waits its turn, up to a bound.
 *
 * The gate throws KeyhookError `rate_limited` when as many wait as may.
 *
 * @example
 * const gate = createGate({ atOnce: 2, waiting: 20 })
 * const hash = await gate(() => slowHash('text'))
 */
export function createGate(room: { readonly atOnce: number; readonly waiting: number }): Gate {
  const waiting: (() => void)[] = []
  let running = 0

  async function enter(): Promise<void> {
    if (running < room.atOnce) {
      running += 1
      return
    }
    if (waiting.length >= room.waiting) {
      throw httpError('rate_limited', { details: { retry_after: RETRY_AFTER_SECONDS } })
    }
    await new Promise<void>((resolve) => {
      waiting.push(resolve)
    })
  }

  /** The place goes to the next in line, so that nobody who comes later takes it. */
  function leave(): void {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }

  return async (work) => {
    await enter()
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
