import type { ClaimedDelivery } from './ports.ts'

/** A queue of one webhook among those of its account. */
export interface Waiter {
  readonly account_id: string
  /** Claimed deliveries that wait for a slot, first attempts before retries. */
  readonly queue: ClaimedDelivery[]
}

/** Claimed deliveries that wait for a slot, served round robin by account, then by webhook. */
export interface Queue<Lane extends Waiter> {
  readonly size: number
  /** Bytes of the waiting bodies. */
  readonly bytes: number
  add(lane: Lane, claimed: readonly ClaimedDelivery[]): void
  /** Removes the first delivery of the next member that may send; undefined when none may. */
  next(mayBegin: (lane: Lane) => boolean): { lane: Lane; claimed: ClaimedDelivery } | undefined
  /** Removes all deliveries, so that their claims can be released. */
  drain(): readonly ClaimedDelivery[]
}

export function createQueue<Lane extends Waiter>(): Queue<Lane> {
  // Insertion order is the order of turns, of accounts and of their members: a served one moves to the end.
  const waiting = new Map<string, Set<Lane>>()
  let size = 0
  let bytes = 0

  /** Adds a member behind the others of its account. A new account is added behind the others. */
  function enlist(lane: Lane): void {
    const lanesOf = waiting.get(lane.account_id) ?? new Set()
    waiting.set(lane.account_id, lanesOf.add(lane))
  }

  /** Moves a served member and its account to the end, or removes them when empty. A single one stays. */
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
