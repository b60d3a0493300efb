/** Runs so many pieces of work at once; the others wait in their order. */
export type Lanes = <T>(work: () => Promise<T>) => Promise<T>

export function createLanes(most: number): Lanes {
  const waiting: (() => void)[] = []
  let free = most
  return async (work) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}
