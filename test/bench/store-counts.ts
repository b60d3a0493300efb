import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { now } from './clock.ts'

/** A store whose deliveries are counted as they pass. */
export interface StoreCounts {
  readonly store: PlatformStore
  /** Deliveries that were read from the table to be sent. */
  readonly claimed: number
  /** Deliveries whose success is committed. */
  readonly succeeded: number
  /** When events were last committed, in microseconds. */
  readonly committedAt: number
  until(succeeded: number): Promise<void>
}

export function countStore(store: PlatformStore): StoreCounts {
  let claimed = 0
  let succeeded = 0
  let committedAt = 0
  let awaited: { readonly count: number; readonly resolve: () => void } | undefined
  const look = (): void => {
    if (awaited !== undefined && succeeded >= awaited.count) awaited.resolve()
  }
  return {
    store: {
      ...store,
      async publish(build) {
        const outcomes = await store.publish(build)
        committedAt = now()
        return outcomes
      },
      async claim(claim) {
        const found = await store.claim(claim)
        claimed += found.length
        return found
      },
      async settle(attempts) {
        const failed = await store.settle(attempts)
        succeeded += attempts.filter(({ after }) => after.status === 'succeeded').length
        // After the engine heard of it, which frees what it held.
        setImmediate(look)
        return failed
      },
    },
    get claimed() {
      return claimed
    },
    get succeeded() {
      return succeeded
    },
    get committedAt() {
      return committedAt
    },
    until: (count) =>
      new Promise((resolve) => {
        awaited = { count, resolve }
        look()
      }),
  }
}
