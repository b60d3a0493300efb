/** Gives callers the writer one after another, in the order they asked. */
export interface Turns {
  take<T>(work: () => Promise<T>): Promise<T>
  /** Resolves once every turn asked for so far has ended. */
  idle(): Promise<void>
}

/**
 * One writer, in process: SQLite's own busy wait would block the thread pool that the holder of the
 * lock needs to go on.
 */
export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve()
  return {
    take(work) {
      const turn = last.then(work, work)
      last = turn.catch(() => undefined)
      return turn
    },
    async idle() {
      await last
    },
  }
}
