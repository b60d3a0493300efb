/**
 * Reads a source until the signal aborts, and then throws its reason, even while the source stalls. Ends
 * the source in either case.
 */
export async function* untilAborted<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T> {
  signal?.throwIfAborted()
  const iterator = source[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await orAborted(iterator.next(), signal)
      if (next.done === true) return
      yield next.value
      signal?.throwIfAborted()
    }
  } finally {
    void end(iterator)
  }
}

/** Settles like the promise, or rejects at once when the signal aborts. */
export function orAborted<T>(next: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return next
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error)
    }
    // The call that made the promise may have aborted the signal.
    if (signal.aborted) abort()
    // Removed again each time: a listener would keep everything that was read in memory.
    signal.addEventListener('abort', abort, { once: true })
    const settled = (): void => {
      signal.removeEventListener('abort', abort)
    }
    next.then(resolve, reject).finally(settled)
  })
}

/** Nobody awaits this: a stalled source does not end. */
async function end(source: AsyncIterator<unknown>): Promise<void> {
  try {
    await source.return?.()
  } catch {
    // An error at the end of the source has no effect.
  }
}
