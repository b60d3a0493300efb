import type { Store } from '../../plugins/store/contract.ts'

/** A store whose deliveries are counted as they pass. */
export interface StoreCounts {
  readonly store: Store
  /** Deliveries that were read from the table to be sent. */
  readonly claimed: number
  /** Deliveries whose success is committed. */
  readonly succeeded: number
  onSettled(listener: () => void): void
  until(succeeded: number): Promise<void>
}

export function countStore(store: Store): StoreCounts {
  let claimed = 0
  let succeeded = 0
  const listeners: (() => void)[] = []
  return {
    store: {
      ...store,
      async claim(claim) {
        const found = await store.claim(claim)
        claimed += found.length
        return found
      },
      async settle(attempts) {
        const failed = await store.settle(attempts)
        succeeded += attempts.filter(({ after }) => after.status === 'succeeded').length
        // After the engine heard of it, which frees what it held.
        setImmediate(() => {
          for (const listener of listeners) listener()
        })
        return failed
      },
    },
    get claimed() {
      return claimed
    },
    get succeeded() {
      return succeeded
    },
    onSettled(listener) {
      listeners.push(listener)
    },
    until: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (succeeded >= count) resolve()
        }
        listeners.push(look)
        look()
      }),
  }
}
