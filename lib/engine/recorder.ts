import type { Millis } from '../time.ts'
import { SECOND } from '../time.ts'
import type { FinishedAttempt } from './attempt.ts'
import type { Clock, EngineEvents, EngineStore, FailedWebhook } from './ports.ts'
import type { Signal } from './signal.ts'

/** Records finished attempts in groups. Failed groups are retried and not dropped, except by `finish`. */
export interface Recorder {
  /** Adds a finished attempt; `recorded` is called after its commit. */
  add(finished: FinishedAttempt, recorded?: () => void): void
  /** True while recording fails: no send may begin, since its outcome could not be recorded. */
  readonly backpressure: boolean
  /** Whether everything added is recorded. */
  readonly isIdle: boolean
  /**
   * Resolves once everything added so far is recorded. After `timeout` it drops the rest: use a timeout
   * after which other processes may take the deliveries over.
   */
  finish(timeout: Millis): Promise<void>
}

export interface RecorderOptions {
  readonly store: Pick<EngineStore, 'settle'>
  readonly clock: Clock
  readonly events?: Partial<EngineEvents>
  /** Emitted after each commit. */
  readonly settled: Signal<SettledGroup>
  /** Emitted when recording works again. */
  readonly recovered: Signal<void>
}

/** Attempts that were recorded together, with the health of the webhooks that failed among them. */
export interface SettledGroup {
  readonly attempts: readonly FinishedAttempt[]
  readonly failed: readonly FailedWebhook[]
}

interface Entry {
  readonly finished: FinishedAttempt
  readonly recorded: (() => void) | undefined
}

const MAX_GROUP = 500
const RETRY_DELAY: Millis = SECOND

export function createRecorder(options: RecorderOptions): Recorder {
  const { store, clock, settled } = options
  let waiting: Entry[] = []
  let running = false
  let backpressure = false
  let waiters: (() => void)[] = []

  async function drain(): Promise<void> {
    running = true
    while (waiting.length > 0) {
      await clock.taken()
      const group = waiting.slice(0, MAX_GROUP)
      if (await settle(group)) {
        // `finish` may have dropped the group meanwhile.
        if (waiting[0] === group[0]) waiting = waiting.slice(group.length)
      } else await new Promise<void>((resolve) => clock.after(RETRY_DELAY, resolve))
      // Only once all are recorded: a lease may have expired meanwhile, and a new claim would send the
      // same delivery again.
      if (waiting.length === 0) endBackpressure()
    }
    running = false
    for (const resolve of waiters.splice(0)) resolve()
  }

  async function settle(group: readonly Entry[]): Promise<boolean> {
    const attempts = group.map(({ finished }) => finished)
    const failed = await record(attempts)
    if (failed === undefined) return false
    options.events?.settled?.(attempts.length)
    settled.emit({ attempts, failed })
    for (const { recorded } of group) recorded?.()
    return true
  }

  async function record(
    attempts: readonly FinishedAttempt[],
  ): Promise<readonly FailedWebhook[] | undefined> {
    try {
      return await store.settle(attempts)
    } catch (cause) {
      backpressure = true
      options.events?.settleFailed?.(waiting.length, cause)
      return undefined
    }
  }

  function endBackpressure(): void {
    if (!backpressure) return
    backpressure = false
    options.recovered.emit()
  }

  return {
    add(finished, recorded) {
      waiting.push({ finished, recorded })
      if (!running) void drain()
    },
    get backpressure() {
      return backpressure
    },
    get isIdle() {
      return !running
    },
    async finish(timeout) {
      if (!running) return
      await new Promise<void>((resolve) => {
        const cancel = clock.after(timeout, () => {
          waiting = []
          resolve()
        })
        waiters = [...waiters, cancel, resolve]
      })
    },
  }
}
