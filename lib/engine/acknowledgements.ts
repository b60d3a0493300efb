import type { Millis } from '../time.ts'

/** A process that held a lease when a change was committed. */
export interface Holder {
  readonly id: string
  /** Remaining time of its lease. */
  readonly left: Millis
}

/** The writing side of changes that take effect at once in every process. */
export interface Acknowledgements {
  /** Records that a process acknowledged every change up to `seq`. */
  note(id: string, seq: number): void
  /**
   * Resolves once every holder acknowledged the change, or its cache lease expired. Returns the ids that did
   * not acknowledge.
   */
  wait(seq: number, holders: readonly Holder[]): Promise<readonly string[]>
}

/** Added to the end of a lease, for the difference of clocks. */
const MARGIN: Millis = 20
/** Notifications may be lost, so the store is polled too, at first after this delay, then twice as long. */
const FIRST_LOOK: Millis = 25

/**
 * @param known reads the acknowledgements of processes from the store; none for a process that has left
 * @param after runs a function later; the returned function cancels it
 */
export function createAcknowledgements(
  known: (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>,
  after: (delay: Millis, run: () => void) => () => void,
): Acknowledgements {
  const notes = new Map<string, number>()
  const waiting = new Set<() => void>()

  function note(id: string, seq: number): void {
    notes.set(id, Math.max(seq, notes.get(id) ?? 0))
    for (const look of waiting) look()
  }

  return {
    note,
    wait(seq, holders) {
      if (holders.length === 0) return Promise.resolve([])
      return new Promise((resolve) => {
        const silent = new Map(holders.map(({ id, left }) => [id, left]))
        let cancelLook: () => void
        const end = (): void => {
          waiting.delete(look)
          cancelLook()
          cancelEnd()
          // Bounds the memory of ended processes; a live one acknowledges again.
          for (const { id } of holders) notes.delete(id)
          resolve([...silent.keys()])
        }
        const look = (): void => {
          for (const id of silent.keys()) if ((notes.get(id) ?? 0) >= seq) silent.delete(id)
          if (silent.size === 0) end()
        }
        const ask = (delay: Millis): void => {
          cancelLook = after(delay, () => {
            known([...silent.keys()]).then(
              (found) => {
                for (const [id, applied] of found) note(id, applied)
              },
              () => undefined,
            )
            ask(2 * delay)
          })
        }
        ask(FIRST_LOOK)
        const cancelEnd = after(Math.max(...silent.values()) + MARGIN, end)
        waiting.add(look)
        look()
      })
    },
  }
}
