/**
 * Waits for work whether or not it heeds the signal.
 *
 * @throws what `reason` makes of the signal once it aborts
 */
export function unlessAborted<T>(
  signal: AbortSignal,
  work: Promise<T>,
  reason: (signal: AbortSignal) => Error = (aborted) => aborted.reason as Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(reason(signal))
    const settle = (tell: () => void): void => {
      signal.removeEventListener('abort', abort)
      tell()
    }
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    )
  })
}
