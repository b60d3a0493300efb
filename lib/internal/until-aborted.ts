/**
 * Reads a source until the signal aborts, and then throws its reason, even while the source stalls. The
 * source is ended with the reading.
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

/** Settles as the promise does, or at once when the signal aborts: what it waits for may stall for ever. */
export function orAborted<T>(next: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return next
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error)
    }
    // Asking for it may have aborted the signal.
    if (signal.aborted) abort()
    // Taken off again each time: what waits for the signal would keep all that was read in memory.
    signal.addEventListener('abort', abort, { once: true })
    const settled = (): void => {
      signal.removeEventListener('abort', abort)
    }
    next.then(resolve, reject).finally(settled)
  })
}

/** Not waited for: one that stalls does not end either. */
async function end(source: AsyncIterator<unknown>): Promise<void> {
  try {
    await source.return?.()
  } catch {
    // What it says of its own end changes nothing any more.
  }
}
