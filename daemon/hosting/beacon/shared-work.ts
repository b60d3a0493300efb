/** Work that several callers wait for. */
export interface SharedWork {
  /**
   * Joins the work of that name, or begins it. It is aborted once all its callers have left.
   *
   * @param cost counted until the work is over; the result is undefined when it does not fit
   * @param left aborts when the caller stops waiting: its promise then rejects with the reason
   */
  join<T>(
    name: string,
    cost: number,
    work: (signal: AbortSignal) => Promise<T>,
    left?: AbortSignal,
  ): Promise<T> | undefined
}

export interface SharedWorkLimits {
  /** Maximum concurrent work; the rest waits in order. */
  readonly atOnce: number
  /** Maximum cost of all running and waiting work. */
  readonly cost: number
}

interface Job {
  readonly name: string
  readonly cost: number
  readonly stop: AbortController
  readonly result: Promise<unknown>
  begin(): void
  callers: number
}

/** Runs each piece of work once for all its callers, and a bounded number of pieces at once. */
export function createSharedWork({ atOnce, cost: mostCost }: SharedWorkLimits): SharedWork {
  // Work that can be joined. Aborted work is removed, but runs until it notices.
  const jobs = new Map<string, Job>()
  const waiting = new Set<Job>()
  let running = 0
  let total = 0

  function add<T>(name: string, cost: number, work: (signal: AbortSignal) => Promise<T>): Job {
    const stop = new AbortController()
    const { promise, resolve } = withResolvers<T>()
    const job: Job = {
      name,
      cost,
      stop,
      result: promise,
      begin() {
        running += 1
        const done = work(stop.signal).finally(() => {
          running -= 1
          forget(job)
          beginNext()
        })
        resolve(done)
      },
      callers: 0,
    }
    // Each caller gets the rejection; there may be none left.
    promise.catch(() => undefined)
    jobs.set(name, job)
    total += cost
    if (running < atOnce) job.begin()
    else waiting.add(job)
    return job
  }

  function forget(job: Job): void {
    total -= job.cost
    if (jobs.get(job.name) === job) jobs.delete(job.name)
  }

  function beginNext(): void {
    const [next] = waiting
    if (next === undefined) return
    waiting.delete(next)
    next.begin()
  }

  function leave(job: Job): void {
    job.callers -= 1
    if (job.callers > 0) return
    // A later caller starts anew: aborted work must not be joined.
    if (jobs.get(job.name) === job) jobs.delete(job.name)
    if (waiting.delete(job)) forget(job)
    else job.stop.abort()
  }

  return {
    join<T>(
      name: string,
      cost: number,
      work: (signal: AbortSignal) => Promise<T>,
      left?: AbortSignal,
    ): Promise<T> | undefined {
      if (left?.aborted === true) return Promise.reject(reasonOf(left))
      const begun = jobs.get(name)
      if (begun === undefined && total + cost > mostCost) return undefined
      const job = begun ?? add(name, cost, work)
      job.callers += 1
      const result = job.result as Promise<T>
      if (left === undefined) return result
      return new Promise<T>((resolve, reject) => {
        const onLeft = (): void => {
          reject(reasonOf(left))
          leave(job)
        }
        left.addEventListener('abort', onLeft, { once: true })
        const stay = (): void => left.removeEventListener('abort', onLeft)
        result.finally(stay).then(resolve, reject)
      })
    },
  }
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error('nobody waits any more', { cause: reason })
}

function withResolvers<T>(): {
  readonly promise: Promise<T>
  resolve(value: Promise<T>): void
} {
  let resolve!: (value: Promise<T>) => void
  const promise = new Promise<T>((given) => {
    resolve = given
  })
  return { promise, resolve }
}
