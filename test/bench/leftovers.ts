/** What was started or made, to be ended in the reverse order, whatever happens. */
export interface Leftovers {
  /** What comes after the end is ended at once. */
  add(end: () => Promise<unknown>): void
  /** Ends everything, once; what cannot be ended does not keep the rest. */
  end(): Promise<void>
  /** A part of these that may be ended before. */
  part(): Leftovers
}

export function createLeftovers(): Leftovers {
  const ends: (() => Promise<unknown>)[] = []
  let isEnded = false
  let ending = Promise.resolve()

  async function drain(): Promise<void> {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
      await end().catch((cause: unknown) => {
        process.stderr.write(`left behind: ${String(cause)}\n`)
      })
    }
  }

  const leftovers: Leftovers = {
    add(end) {
      ends.push(end)
      if (isEnded) void leftovers.end()
    },
    end() {
      isEnded = true
      // Whoever asks again waits for what is being ended already.
      ending = ending.then(drain)
      return ending
    },
    part() {
      const own = createLeftovers()
      leftovers.add(() => own.end())
      return own
    },
  }
  return leftovers
}
