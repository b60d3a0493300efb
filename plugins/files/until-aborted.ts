/** Reads a source until the signal aborts, and then throws its reason, even while the source hangs. */
export async function* untilAborted<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  signal.throwIfAborted()
  const iterator = source[Symbol.asyncIterator]()
  let abort = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    abort = () => {
      reject(signal.reason as Error)
    }
  })
  aborted.catch(() => undefined)
  signal.addEventListener('abort', abort)
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), aborted])
      if (next.done === true) return
      yield next.value
    }
  } finally {
    signal.removeEventListener('abort', abort)
    // Not waited for: a source that hangs may never end.
    Promise.resolve(iterator.return?.()).catch(() => undefined)
  }
}
