import { httpError } from './errors.ts'

/** Who work is for, and what it is about. */
export interface Turn {
  /** Holders, such as networks or accounts, are served in turn. */
  readonly holder: string
  /** Work on one subject, such as an email address, runs one at a time. */
  readonly subject?: string
  /** When it aborts while the work waits, the work is not begun. */
  readonly signal?: AbortSignal
  /** Whether the work is neither counted, refused nor dropped: its caller bounds how much there is. */
  readonly kept?: boolean
}

/** Runs work when it is its turn. */
export type FairQueue = <T>(turn: Turn, work: () => Promise<T>) => Promise<T>

export interface FairQueueOptions {
  /** Work that runs at once. */
  readonly atOnce: number
  /** Work that waits. */
  readonly waiting: number
  /** Work of one holder that waits. Default `waiting`. */
  readonly each?: number
}

const RETRY_AFTER_SECONDS = 2

interface Waiter extends Turn {
  start(): void
  drop(cause: unknown): void
}

/**
 * Runs a bounded amount of work at once; more work waits, up to a bound. Holders are served in turn,
 * however much each has queued. A full queue drops the last work of the holder that has most.
 *
 * The queue throws KeyhookError `rate_limited` for work that it drops, and the reason of the signal for
 * work whose signal aborts before it begins.
 *
 * @example
 * const queue = createFairQueue({ atOnce: 2, waiting: 100 })
 * const hash = await queue({ holder: '192.0.2.1' }, () => slowHash('text'))
 */
export function createFairQueue({
  atOnce,
  waiting: most,
  each = most,
}: FairQueueOptions): FairQueue {
  /** Waiting work by holder; the holder that was served last comes last. */
  const queues = new Map<string, Waiter[]>()
  /** Waiting work that counts, by holder and altogether. */
  const counts = new Map<string, number>()
  let counted = 0
  const subjects = new Set<string>()
  let running = 0

  const mayStart = ({ subject }: Turn): boolean =>
    running < atOnce && (subject === undefined || !subjects.has(subject))

  function begin({ subject }: Turn): void {
    running += 1
    if (subject !== undefined) subjects.add(subject)
  }

  async function enter(turn: Turn): Promise<void> {
    turn.signal?.throwIfAborted()
    if (mayStart(turn)) return begin(turn)
    if (turn.kept !== true) makeRoom(turn.holder)
    await wait(turn)
  }

  function wait(turn: Turn): Promise<void> {
    const { holder, signal } = turn
    return new Promise((resolve, reject) => {
      function abort(): void {
        remove(waiter)
        reject(signal?.reason)
      }
      function settle(): void {
        signal?.removeEventListener('abort', abort)
      }
      const waiter: Waiter = {
        ...turn,
        start: () => {
          settle()
          resolve()
        },
        drop: (cause) => {
          settle()
          reject(cause)
        },
      }
      signal?.addEventListener('abort', abort, { once: true })
      const queue = queues.get(holder)
      if (queue === undefined) queues.set(holder, [waiter])
      else queue.push(waiter)
      count(waiter, 1)
    })
  }

  function count({ holder, kept }: Turn, change: 1 | -1): void {
    if (kept === true) return
    const own = (counts.get(holder) ?? 0) + change
    if (own > 0) counts.set(holder, own)
    else counts.delete(holder)
    counted += change
  }

  /** @throws KeyhookError `rate_limited` where no holder has more queued than the newcomer's would */
  function makeRoom(holder: string): void {
    const own = counts.get(holder) ?? 0
    if (own >= each) throw tooMany()
    if (counted < most) return
    const last = lastOfHeaviest(own + 1)
    if (last === undefined) throw tooMany()
    remove(last)
    last.drop(tooMany())
  }

  /** The newest work of the holder with the most, if that is more than `least`; of equals, the next in turn. */
  function lastOfHeaviest(least: number): Waiter | undefined {
    let heaviest: Waiter[] | undefined
    let greatest = least
    for (const [holder, queue] of queues) {
      const own = counts.get(holder) ?? 0
      if (own <= greatest) continue
      greatest = own
      heaviest = queue
    }
    return heaviest?.findLast(isCounted)
  }

  function remove(waiter: Waiter): void {
    const queue = queues.get(waiter.holder) ?? []
    const left = queue.filter((one) => one !== waiter)
    if (left.length < queue.length) count(waiter, -1)
    if (left.length > 0) queues.set(waiter.holder, left)
    else queues.delete(waiter.holder)
  }

  function leave({ subject }: Turn): void {
    running -= 1
    if (subject !== undefined) subjects.delete(subject)
    for (const [holder, queue] of queues) {
      const index = queue.findIndex(mayStart)
      const [waiter] = index < 0 ? [] : queue.splice(index, 1)
      if (waiter === undefined) continue
      queues.delete(holder)
      if (queue.length > 0) queues.set(holder, queue)
      count(waiter, -1)
      begin(waiter)
      waiter.start()
      return
    }
  }

  return async (turn, work) => {
    await enter(turn)
    try {
      turn.signal?.throwIfAborted()
      return await work()
    } finally {
      leave(turn)
    }
  }
}

function isCounted({ kept }: Waiter): boolean {
  return kept !== true
}

function tooMany(): ReturnType<typeof httpError> {
  return httpError('rate_limited', { details: { retry_after: RETRY_AFTER_SECONDS } })
}
