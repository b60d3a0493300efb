/** At most so many at once; the others wait in the order in which they came. */
export interface Turns {
  /** @throws the signal's reason when it aborts before the turn comes */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>
}

export function createTurns(size: number): Turns {
  let free = size
  const waiting = new Set<() => void>()

  function wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (then: () => void): void => {
        waiting.delete(start)
        signal.removeEventListener('abort', abort)
        then()
      }
      const start = (): void => {
        settle(resolve)
      }
      const abort = (): void => {
        settle(() => {
          reject(signal.reason as Error)
        })
      }
      waiting.add(start)
      signal.addEventListener('abort', abort)
    })
  }

  return {
    async run(work, signal) {
      signal.throwIfAborted()
      if (free > 0) free--
      else await wait(signal)
      try {
        return await work()
      } finally {
        const [next] = waiting
        if (next === undefined) free++
        else next()
      }
    },
  }
}
