/** A mutex: runs work one at a time, in the order of the calls. */
export interface Turns {
  take<T>(work: () => Promise<T>): Promise<T>
  /** Work that runs or waits. */
  readonly size: number
  /** Resolves once all work so far has ended. */
  idle(): Promise<void>
}

/**
 * Serializes writers within the process: the busy wait of SQLite would block the thread pool that the holder
 * of the lock needs.
 */
export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve()
  let size = 0
  const end = (): void => {
    size--
  }
  return {
    take(work) {
      size++
      const turn = last.then(work, work)
      last = turn.then(end, end)
      return turn
    },
    get size() {
      return size
    },
    async idle() {
      await last
    },
  }
}
