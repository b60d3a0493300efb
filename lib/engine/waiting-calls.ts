import type { KeyhookError } from '../errors.ts'
import { kernelError } from '../errors.ts'

/** A call to `publish` that waits for its commit. */
export interface WaitingCall {
  readonly account: string
  readonly events: readonly unknown[]
  /** Bytes of the events' bodies. */
  readonly bytes: number
  /** Whether the call needs a group of its own, because its last group failed. */
  readonly alone: boolean
  reject(reason: unknown): void
}

/** Publish calls that wait, by account. */
export interface WaitingCalls<Call extends WaitingCall> {
  readonly isEmpty: boolean
  /** Whether `take` would return a call. */
  readonly hasReady: boolean
  readonly accounts: readonly string[]
  of(account: string): readonly Call[]
  /**
   * Adds a call. When too much waits, the newest calls of the account that has most are rejected as
   * `rate_limited`; the added call may be one of them.
   */
  add(call: Call): void
  /** Removes waiting calls. */
  remove(calls: readonly Call[]): void
  /** Puts taken calls back before the other calls of their accounts. */
  putBack(calls: readonly Call[]): void
  /**
   * Removes the calls of the next group, one of each account in turn, while they fit. The first call
   * always fits. Calls whose webhooks are not known keep waiting.
   */
  take(): readonly Call[]
}

export interface WaitingLimits {
  /** Events and deliveries of a group. Default 512: 256 events with a delivery each. */
  readonly groupRows?: number
  /** Bytes of the bodies of a group. Default 4 MiB. */
  readonly groupBytes?: number
  /** Bytes that waiting calls hold, with `EVENT_BYTES` and `DELIVERY_BYTES`. Default 64 MiB. */
  readonly waitingBytes?: number
}

interface Entry<Call> {
  readonly call: Call
  readonly size: number
}

interface Queue<Call> {
  entries: Entry<Call>[]
  size: number
}

const MIB = 1_048_576
const MESSAGE =
  'Too many events of this account wait to be stored. None of these was stored: publish them again shortly.'
/** Memory of a waiting event, in addition to its body. */
export const EVENT_BYTES = 512
/** A delivery takes no memory before its event is committed; this counts it as work. */
const DELIVERY_BYTES = 32
/** Seconds. */
const RETRY_AFTER = 1

/**
 * Accounts take turns: an account that was served in the last group comes after every account that was
 * not. So the calls of one account delay another's by at most the group in progress and one more.
 *
 * @param rowsOf events and deliveries that a call inserts; undefined while its webhooks are not known
 */
export function createWaitingCalls<Call extends WaitingCall>(
  rowsOf: (call: Call) => number | undefined,
  limits: WaitingLimits = {},
): WaitingCalls<Call> {
  const { groupRows = 512, groupBytes = 4 * MIB, waitingBytes = 64 * MIB } = limits
  /** In the order of turns. */
  const queues = new Map<string, Queue<Call>>()
  /** The accounts of the last group, in the order of their last turn. */
  let served: readonly string[] = []
  let waiting = 0

  /** A call counts as at most half of the limit, so that a call of another account fits too. */
  function toEntry(call: Call): Entry<Call> {
    const { length } = call.events
    const deliveries = (rowsOf(call) ?? length) - length
    const size = call.bytes + length * EVENT_BYTES + deliveries * DELIVERY_BYTES
    return { call, size: Math.min(size, waitingBytes / 2) }
  }

  function queueOf(account: string): Queue<Call> {
    const queue = queues.get(account) ?? { entries: [], size: 0 }
    queues.set(account, queue)
    return queue
  }

  function count(account: string, queue: Queue<Call>, size: number): void {
    waiting += size
    queue.size += size
    if (queue.entries.length === 0) queues.delete(account)
  }

  function moveToEnd(account: string): void {
    const queue = queues.get(account)
    if (queue === undefined) return
    queues.delete(account)
    queues.set(account, queue)
  }

  /** Rejects the newest call of the largest account; of equal ones, of the last in turn. */
  function dropOne(): void {
    let [heaviest] = queues
    for (const entry of queues) if (entry[1].size >= (heaviest?.[1].size ?? 0)) heaviest = entry
    if (heaviest === undefined) return
    const [account, queue] = heaviest
    const newest = queue.entries.pop()
    if (newest === undefined) return
    count(account, queue, -newest.size)
    newest.call.reject(tooMany())
  }

  return {
    get isEmpty() {
      return queues.size === 0
    },
    get hasReady() {
      for (const { entries } of queues.values()) {
        const [first] = entries
        if (first !== undefined && rowsOf(first.call) !== undefined) return true
      }
      return false
    },
    get accounts() {
      return [...queues.keys()]
    },
    of: (account) => (queues.get(account)?.entries ?? []).map(({ call }) => call),
    add(call) {
      const entry = toEntry(call)
      const queue = queueOf(call.account)
      queue.entries.push(entry)
      count(call.account, queue, entry.size)
      while (waiting > waitingBytes) dropOne()
    },
    remove(calls) {
      const removed = new Set(calls)
      for (const account of new Set(calls.map((call) => call.account))) {
        const queue = queueOf(account)
        const gone = queue.entries.filter(({ call }) => removed.has(call))
        queue.entries = queue.entries.filter(({ call }) => !removed.has(call))
        count(account, queue, -gone.reduce((sum, { size }) => sum + size, 0))
      }
    },
    putBack(calls) {
      for (const call of calls.toReversed()) {
        const entry = toEntry(call)
        const queue = queueOf(call.account)
        queue.entries.unshift(entry)
        count(call.account, queue, entry.size)
      }
    },
    take() {
      for (const account of served) moveToEnd(account)
      const group: Call[] = []
      let rows = 0
      let bytes = 0
      // An account that is moved to the end is visited again, until nothing more fits.
      for (const [account, queue] of queues) {
        if (rows >= groupRows) break
        const [entry] = queue.entries
        const own = entry && rowsOf(entry.call)
        if (entry === undefined || own === undefined) continue
        const { call, size } = entry
        const fits = !call.alone && rows + own <= groupRows && bytes + call.bytes <= groupBytes
        if (group.length > 0 && !fits) continue
        group.push(call)
        rows += call.alone ? groupRows : own
        bytes += call.bytes
        queue.entries.shift()
        count(account, queue, -size)
        moveToEnd(account)
      }
      served = [...new Set(group.map((call) => call.account).toReversed())].toReversed()
      return group
    },
  }
}

function tooMany(): KeyhookError {
  return kernelError('rate_limited', { message: MESSAGE, details: { retry_after: RETRY_AFTER } })
}
