/** A fixed number of places, which accounts take in turn. */
export interface Places {
  /**
   * Waits for a place. Whoever stops waiting leaves nothing behind.
   *
   * @returns gives the place back; called once
   * @throws the signal's reason, when it aborts before there is one
   */
  take(account: string, signal: AbortSignal): Promise<() => void>
}

export function createPlaces(most: number): Places {
  // Insertion order is the order of turns: a served account moves to the end.
  const waiting = new Map<string, Set<() => void>>()
  let free = most

  function giveBack(): void {
    const [account, turns] = waiting.entries().next().value ?? []
    const [turn] = turns ?? []
    if (account === undefined || turns === undefined || turn === undefined) {
      free += 1
      return
    }
    turns.delete(turn)
    waiting.delete(account)
    if (turns.size > 0) waiting.set(account, turns)
    turn()
  }

  function wait(account: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const turns = waiting.get(account) ?? new Set()
      const turn = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        turns.delete(turn)
        if (turns.size === 0 && waiting.get(account) === turns) waiting.delete(account)
        reject(signal.reason as Error)
      }
      waiting.set(account, turns.add(turn))
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  return {
    async take(account, signal) {
      signal.throwIfAborted()
      if (free > 0) free -= 1
      else await wait(account, signal)
      return giveBack
    },
  }
}
