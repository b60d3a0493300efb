import type { Millis } from '../time.ts'

/** A process that held a lease when a change was committed. */
export interface LeaseHolder {
  readonly id: string
  /** Remaining time of its lease. */
  readonly left: Millis
}

/** The writing side of changes that take effect at once in every process. */
export interface Acknowledgements {
  /** Records that a process acknowledged every change up to `seq`. */
  record(id: string, seq: number): void
  /**
   * Resolves once every holder acknowledged the change, or its cache lease expired. Returns the ids that did
   * not acknowledge.
   */
  wait(seq: number, holders: readonly LeaseHolder[]): Promise<readonly string[]>
}

/** Added to the end of a lease, for the difference of clocks. */
const MARGIN: Millis = 20
/** Notifications may be lost, so the store is polled too, at first after this delay, then twice as long. */
const FIRST_POLL: Millis = 25

/**
 * @param known reads the acknowledgements of processes from the store; none for a process that has left
 * @param after runs a function later; the returned function cancels it
 */
export function createAcknowledgements(
  known: (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>,
  after: (delay: Millis, run: () => void) => () => void,
): Acknowledgements {
  const acknowledged = new Map<string, number>()
  const waiting = new Set<() => void>()

  function record(id: string, seq: number): void {
    acknowledged.set(id, Math.max(seq, acknowledged.get(id) ?? 0))
    for (const check of waiting) check()
  }

  return {
    record,
    wait(seq, holders) {
      if (holders.length === 0) return Promise.resolve([])
      return new Promise((resolve) => {
        const missing = new Map(holders.map(({ id, left }) => [id, left]))
        let cancelPoll: () => void
        const end = (): void => {
          waiting.delete(check)
          cancelPoll()
          cancelEnd()
          // Bounds the memory of ended processes; a live one acknowledges again.
          for (const { id } of holders) acknowledged.delete(id)
          resolve([...missing.keys()])
        }
        const check = (): void => {
          for (const id of missing.keys())
            if ((acknowledged.get(id) ?? 0) >= seq) missing.delete(id)
          if (missing.size === 0) end()
        }
        const poll = (delay: Millis): void => {
          cancelPoll = after(delay, () => {
            known([...missing.keys()]).then(
              (found) => {
                for (const [id, applied] of found) record(id, applied)
              },
              () => undefined,
            )
            poll(2 * delay)
          })
        }
        poll(FIRST_POLL)
        const cancelEnd = after(Math.max(...missing.values()) + MARGIN, end)
        waiting.add(check)
        check()
      })
    },
  }
}
