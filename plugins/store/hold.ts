import { kernelError } from '../../lib/errors.ts'
import type { WriteOptions } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'

/** Ends a unit of work: waits until its changes are applied, unless the caller does. */
export async function waitUnlessTaken(
  applied: Promise<unknown> | undefined,
  { whenApplied }: WriteOptions,
): Promise<void> {
  if (applied === undefined) return
  if (whenApplied === undefined) {
    await applied
    return
  }
  const taken = applied.then(() => undefined)
  // Its taker may have failed before it waits.
  taken.catch(() => undefined)
  whenApplied(taken)
}

/**
 * Waits at most `maxAge` for `work`; then its signal aborts.
 *
 * @throws KeyhookError `unavailable` when it took longer, whatever its result
 */
export async function untilAged<T>(
  work: (aged: AbortSignal) => Promise<T>,
  maxAge: Millis,
): Promise<T> {
  const aging = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const aged = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const reason = kernelError('unavailable', {
        internal: `a transaction was open for more than ${maxAge} ms`,
      })
      aging.abort(reason)
      reject(reason)
    }, maxAge)
  })
  try {
    return await Promise.race([work(aging.signal), aged])
  } finally {
    clearTimeout(timer)
  }
}
