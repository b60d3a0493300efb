import type { ClaimedDelivery } from './ports.ts'

/** A queue of one webhook among those of its account. */
export interface QueueMember {
  readonly account_id: string
  /** Claimed deliveries that wait for a slot, first attempts before retries. */
  readonly waiting: ClaimedDelivery[]
}

/** Claimed deliveries that wait for a slot, served round robin by account, then by webhook. */
export interface RoundRobinQueue<Member extends QueueMember> {
  readonly size: number
  /** Bytes of the waiting bodies. */
  readonly bytes: number
  add(member: Member, claimed: readonly ClaimedDelivery[]): void
  /** Removes the first delivery of the next member that may send; undefined when none may. */
  next(
    maySend: (member: Member) => boolean,
  ): { queue: Member; claimed: ClaimedDelivery } | undefined
  /** Removes all deliveries, so that their claims can be released. */
  drain(): readonly ClaimedDelivery[]
}

export function createRoundRobinQueue<Member extends QueueMember>(): RoundRobinQueue<Member> {
  // Insertion order is the order of turns, of accounts and of their members: a served one moves to the end.
  const waiting = new Map<string, Set<Member>>()
  let size = 0
  let bytes = 0

  /** Adds a member behind the others of its account. A new account is added behind the others. */
  function append(member: Member): void {
    const members = waiting.get(member.account_id) ?? new Set()
    waiting.set(member.account_id, members.add(member))
  }

  /** Moves a served member and its account to the end, or removes them when empty. A single one stays. */
  function moveToEnd(account: string, members: Set<Member>, member: Member): void {
    const isEmpty = member.waiting.length === 0
    if (!isEmpty && waiting.size === 1 && members.size === 1) return
    members.delete(member)
    waiting.delete(account)
    if (members.size > 0) waiting.set(account, members)
    if (!isEmpty) append(member)
  }

  return {
    get size() {
      return size
    },
    get bytes() {
      return bytes
    },
    add(member, claimed) {
      if (claimed.length === 0) return
      member.waiting.push(...claimed)
      size += claimed.length
      for (const { body } of claimed) bytes += body.length
      append(member)
    },
    next(maySend) {
      for (const [account, members] of waiting) {
        const member = firstThat(members, maySend)
        const claimed = member?.waiting.shift()
        if (member === undefined || claimed === undefined) continue
        moveToEnd(account, members, member)
        size--
        bytes -= claimed.body.length
        return { queue: member, claimed }
      }
      return undefined
    },
    drain() {
      const all = [...waiting.values()].flatMap((some) => [...some])
      waiting.clear()
      size = 0
      bytes = 0
      return all.flatMap(({ waiting }) => waiting.splice(0))
    },
  }
}

function firstThat<T>(some: Iterable<T>, holds: (one: T) => boolean): T | undefined {
  for (const one of some) if (holds(one)) return one
  return undefined
}
