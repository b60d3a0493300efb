import type { Millis } from '../time.ts'

/** A process that held a lease when a change was committed. */
export interface Holder {
  readonly id: string
  /** How much of its lease was left. */
  readonly left: Millis
}

/** The writing side of changes that hold at once in every process. */
export interface Acknowledgements {
  /** Notes that a process knows every change up to `seq`. */
  note(id: string, seq: number): void
  /**
   * Resolves once every holder knows the change, or can no longer go by what it keeps; answers those
   * that did not say so in time.
   */
  wait(seq: number, holders: readonly Holder[]): Promise<readonly string[]>
}

/** Allowed beyond the end of a lease, for clocks that run apart. */
const MARGIN: Millis = 20
/** Hints of an acknowledgement may be lost, so the store is asked too, at first often. */
const FIRST_LOOK: Millis = 25

/**
 * @param known what the store has of these processes' acknowledgements; one that has left has none
 * @param after runs something later; its answer cancels
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
          // A process that is gone never speaks again; one that lives says where it stands anew.
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
