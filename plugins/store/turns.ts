/** A mutex: runs work one at a time, in the order of the calls. */
export interface Turns {
  take<T>(work: () => Promise<T>): Promise<T>
  /** Resolves once all work so far has ended. */
  idle(): Promise<void>
}

/**
 * Serializes writers within the process: the busy wait of SQLite would block the thread pool that the holder
 * of the lock needs.
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
