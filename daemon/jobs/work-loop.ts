import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import type { Log } from '../telemetry/log.ts'

/** Runs work that waits in the store, one piece after another. */
export interface WorkLoop {
  /** Work may be available. */
  notify(): void
  /** Aborts running work, waits until it ended, and begins no more. */
  stop(): Promise<void>
}

export interface WorkLoopOptions {
  /** For the log. */
  readonly name: string
  /** Whether work can be claimed; checked at every look. */
  isClaimable(): Promise<boolean>
  /** Claims the next piece and runs it to its end; false when there was none. */
  claimNext(stopping: AbortSignal): Promise<boolean>
  /** Maximum concurrent pieces. */
  readonly most: number
  /** Polling interval without notifications. */
  readonly every: Millis
  readonly clock: Pick<Clock, 'after'>
  readonly log: Log
}

/** Starts a loop that looks for work now, at the interval, and when it is notified. */
export function startWorkLoop(options: WorkLoopOptions): WorkLoop {
  const { name, most, every, clock, log } = options
  const stopping = new AbortController()
  const workers = new Set<Promise<void>>()
  let notifications = 0
  let looking: Promise<void> | undefined
  let cancel = (): void => undefined

  function warn(cause: unknown): void {
    log.warn({ err: cause, work: name }, 'work failed and is looked for again')
  }

  /** Works until nothing is left, including work that was announced meanwhile. */
  async function workOff(): Promise<void> {
    let seen: number
    do seen = notifications
    while ((await claimNext()) || (seen !== notifications && !stopping.signal.aborted))
  }

  async function claimNext(): Promise<boolean> {
    return !stopping.signal.aborted && (await options.claimNext(stopping.signal))
  }

  function startWorker(): void {
    const worker = workOff()
      .catch(warn)
      .finally(() => workers.delete(worker))
    workers.add(worker)
  }

  async function look(): Promise<void> {
    cancel()
    let seen: number
    do {
      seen = notifications
      const isClaimable = await options.isClaimable().catch(warn)
      while (isClaimable === true && workers.size < most && !stopping.signal.aborted) startWorker()
    } while (seen !== notifications && !stopping.signal.aborted)
    looking = undefined
    if (!stopping.signal.aborted) cancel = clock.after(every, start)
  }

  function start(): void {
    if (!stopping.signal.aborted) looking ??= look()
  }

  start()
  return {
    notify() {
      notifications++
      start()
    },
    async stop() {
      stopping.abort()
      cancel()
      await looking
      await Promise.all(workers)
    },
  }
}
