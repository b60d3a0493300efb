import { httpError } from '../../errors.ts'

/** Whose work it is, and what it is about. */
export interface Turn {
  /** Networks are served in turn. */
  readonly network: string
  /** Work on one subject, such as an email address, runs one at a time. */
  readonly subject?: string
}

/** Runs work when it is its turn. */
export type FairQueue = <T>(turn: Turn, work: () => Promise<T>) => Promise<T>

const RETRY_AFTER_SECONDS = 2

interface Waiter extends Turn {
  start(): void
  drop(): void
}

/**
 * Runs so much work at once; more waits its turn, up to a bound. Networks are served in turn, however
 * much each has queued. A full queue drops the last work of the network that has most.
 *
 * The queue throws KeyhookError `rate_limited` to what it drops.
 *
 * @example
 * const queue = createFairQueue({ atOnce: 2, waiting: 100 })
 * const hash = await queue({ network: '192.0.2.1' }, () => slowHash('text'))
 */
export function createFairQueue(room: {
  readonly atOnce: number
  readonly waiting: number
}): FairQueue {
  /** What waits by network; the network that was served last comes last. */
  const queues = new Map<string, Waiter[]>()
  const subjects = new Set<string>()
  let running = 0
  let waiting = 0

  const mayStart = ({ subject }: Turn): boolean =>
    running < room.atOnce && (subject === undefined || !subjects.has(subject))

  function begin({ subject }: Turn): void {
    running += 1
    if (subject !== undefined) subjects.add(subject)
  }

  function enter(turn: Turn): Promise<void> {
    if (mayStart(turn)) {
      begin(turn)
      return Promise.resolve()
    }
    makeRoom(turn.network)
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        ...turn,
        start: resolve,
        drop: () => {
          reject(tooMany())
        },
      }
      const queue = queues.get(turn.network)
      if (queue === undefined) queues.set(turn.network, [waiter])
      else queue.push(waiter)
      waiting += 1
    })
  }

  /** @throws KeyhookError `rate_limited` where no network has more queued than the newcomer's would */
  function makeRoom(network: string): void {
    if (waiting < room.waiting) return
    let heaviest: Waiter[] = []
    for (const queue of queues.values()) if (queue.length > heaviest.length) heaviest = queue
    if (heaviest.length <= (queues.get(network)?.length ?? 0) + 1) throw tooMany()
    heaviest.pop()?.drop()
    waiting -= 1
  }

  function leave({ subject }: Turn): void {
    running -= 1
    if (subject !== undefined) subjects.delete(subject)
    for (const [network, queue] of queues) {
      const index = queue.findIndex(mayStart)
      const [waiter] = index < 0 ? [] : queue.splice(index, 1)
      if (waiter === undefined) continue
      waiting -= 1
      queues.delete(network)
      if (queue.length > 0) queues.set(network, queue)
      begin(waiter)
      waiter.start()
      return
    }
  }

  return async (turn, work) => {
    await enter(turn)
    try {
      return await work()
    } finally {
      leave(turn)
    }
  }
}

function tooMany(): ReturnType<typeof httpError> {
  return httpError('rate_limited', { details: { retry_after: RETRY_AFTER_SECONDS } })
}
