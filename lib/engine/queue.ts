import type { ClaimedDelivery } from './ports.ts'

/** Whose deliveries wait: a lane. */
export interface Waiter {
  readonly account_id: string
  /** Claimed and waiting for a slot, first attempts before retries. */
  readonly queue: ClaimedDelivery[]
}

/** What is claimed and waits for a slot, served account by account, and of each lane by lane. */
export interface Queue<Lane extends Waiter> {
  readonly size: number
  /** Of the bodies that wait. */
  readonly bytes: number
  add(lane: Lane, claimed: readonly ClaimedDelivery[]): void
  /** Takes the first of the next lane that may begin a send; undefined when none may. */
  next(mayBegin: (lane: Lane) => boolean): { lane: Lane; claimed: ClaimedDelivery } | undefined
  /** Empties it, for handing claims back. */
  drain(): readonly ClaimedDelivery[]
}

export function createQueue<Lane extends Waiter>(): Queue<Lane> {
  // Insertion order is the turn, of accounts and of the lanes of each: who was served goes to the end.
  const waiting = new Map<string, Set<Lane>>()
  let size = 0
  let bytes = 0

  /** Puts it behind the others of its account, and the account behind the others. */
  function enlist(lane: Lane): void {
    const lanesOf = waiting.get(lane.account_id) ?? new Set()
    waiting.set(lane.account_id, lanesOf.add(lane))
  }

  /** Who has nothing left waits no more. To move somebody behind nobody would cost most of a turn. */
  function giveTurn(account: string, lanesOf: Set<Lane>, lane: Lane): void {
    const isEmpty = lane.queue.length === 0
    if (!isEmpty && waiting.size === 1 && lanesOf.size === 1) return
    lanesOf.delete(lane)
    waiting.delete(account)
    if (lanesOf.size > 0) waiting.set(account, lanesOf)
    if (!isEmpty) enlist(lane)
  }

  return {
    get size() {
      return size
    },
    get bytes() {
      return bytes
    },
    add(lane, claimed) {
      if (claimed.length === 0) return
      lane.queue.push(...claimed)
      size += claimed.length
      for (const { body } of claimed) bytes += body.length
      enlist(lane)
    },
    next(mayBegin) {
      for (const [account, lanesOf] of waiting) {
        const lane = firstWith(lanesOf, mayBegin)
        const claimed = lane?.queue.shift()
        if (lane === undefined || claimed === undefined) continue
        giveTurn(account, lanesOf, lane)
        size--
        bytes -= claimed.body.length
        return { lane, claimed }
      }
      return undefined
    },
    drain() {
      const lanes = [...waiting.values()].flatMap((some) => [...some])
      waiting.clear()
      size = 0
      bytes = 0
      return lanes.flatMap(({ queue }) => queue.splice(0))
    },
  }
}

function firstWith<T>(some: Iterable<T>, holds: (one: T) => boolean): T | undefined {
  for (const one of some) if (holds(one)) return one
  return undefined
}
