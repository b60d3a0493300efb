/** At most so many at once; the others wait in the order in which they came. */
export class Turns {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(size: number) {
    this.#free = size
  }

  /** @throws the signal's reason when it aborts before the turn comes */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    if (this.#free > 0) this.#free--
    else await this.#wait(signal)
    try {
      return await work()
    } finally {
      const [next] = this.#waiting
      if (next === undefined) this.#free++
      else next()
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (then: () => void): void => {
        this.#waiting.delete(start)
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
      this.#waiting.add(start)
      signal.addEventListener('abort', abort)
    })
  }
}
