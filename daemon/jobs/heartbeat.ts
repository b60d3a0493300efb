import type { Clock } from '../../lib/engine/ports.ts'
import type { Instant, Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { Hold, JobLine, JobProgress } from '../../plugins/platform/contract/jobs.ts'

/** Minimum interval between two records of progress. */
const SOON: Millis = SECOND
const MAX_LINES = 1000
const MAX_LINE = 500
const MAX_STAGE = 40

/** Progress of a job, as its handler reports it. */
export interface ProgressReport extends JobProgress {
  readonly stage: string
  /** Logged when the stage or the count has changed. */
  readonly message?: string
}

type Line = Omit<JobLine, 'number'>

/** One heartbeat: the new end of the lease, the progress, and new log lines. */
export interface Beat {
  readonly lease_until: Instant
  readonly progress: JobProgress
  readonly lines: readonly Line[]
}

export interface HeartbeatOptions {
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly every: Millis
  readonly lease: Millis
  /** Log message of each stage that reports none; undefined: nothing is logged. */
  readonly stages: Readonly<Record<string, string>> | undefined
  /** Records the heartbeat in one unit of work. */
  beat(beat: Beat): Promise<Hold>
  /** Releases the lease. */
  release(given: { readonly until: Instant; readonly counted: boolean }): Promise<unknown>
  /** Called when the claim is lost or the job must stop. */
  ended(why: 'lost' | 'canceled'): void
  warn(cause: unknown): void
}

/** Extends a lease, records progress, and detects cancellation. */
export interface Heartbeat {
  /** The stage that was reported last; null before the first. */
  readonly stage: string | null
  report(report: ProgressReport): void
  /** Logs a line in the current stage. */
  log(message: string): void
  /** Checks at once whether the job must stop. */
  look(): void
  /** Records what was reported. */
  flush(): Promise<void>
  /** Records what was reported, and ends the heartbeat. */
  stop(): Promise<void>
  /** Releases the job, to be claimed at once; this attempt does not count. */
  release(): Promise<void>
  /** Releases the job for another attempt after a delay. */
  retryAfter(delay: Millis): Promise<void>
}

export function startHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { clock, every, lease, stages, ended, warn } = options
  let progress: JobProgress = { stage: null, done: 0, total: null }
  let lines: Line[] = []
  let written = 0
  // Never later than the next heartbeat is due.
  const soon = Math.min(SOON, every)
  let last = clock.now()
  let beating: Promise<void> = Promise.resolve()
  let isDue = false
  let cancel = (): void => undefined
  let isStopped = false

  function beatIn(delay: Millis): void {
    cancel()
    if (!isStopped) cancel = clock.after(delay, look)
  }

  function look(): void {
    cancel()
    if (isDue) return
    isDue = true
    beating = beating
      .then(() => {
        isDue = false
        return beat()
      })
      .catch(warn)
  }

  async function beat(): Promise<void> {
    const recorded = lines
    lines = []
    last = clock.now()
    beatIn(every)
    const answer = await options
      .beat({ lease_until: last + lease, progress, lines: recorded })
      .catch((cause: unknown) => {
        lines = [...recorded, ...lines]
        throw cause
      })
    if (answer === 'lost') ended('lost')
    else if (answer === 'cancel') ended('canceled')
  }

  async function flush(): Promise<void> {
    if (lines.length > 0) look()
    await beating
  }

  function note(stage: string | null, message: string): void {
    if (stages === undefined || written >= MAX_LINES) return
    written++
    lines.push({ at: clock.now(), stage, message: cleanText(message, MAX_LINE) })
  }

  beatIn(every)
  return {
    get stage() {
      return progress.stage
    },
    report({ stage, done, total, message }) {
      if (isStopped) return
      const isNew = stage !== progress.stage
      const isMore = isNew || done !== progress.done
      progress = {
        stage: cleanText(stage, MAX_STAGE),
        done: cleanCount(done),
        total: total === null ? null : cleanCount(total),
      }
      if (message !== undefined && isMore) note(stage, message)
      else if (isNew) note(stage, stages?.[stage] ?? stage)
      if (isMore) beatIn(Math.max(0, last + soon - clock.now()))
    },
    log(message) {
      if (isStopped) return
      note(progress.stage, message)
      beatIn(Math.max(0, last + soon - clock.now()))
    },
    look,
    flush,
    async stop() {
      isStopped = true
      cancel()
      await flush()
    },
    async release() {
      await options.release({ until: clock.now(), counted: false }).catch(warn)
    },
    async retryAfter(delay) {
      await options.release({ until: clock.now() + delay, counted: true }).catch(warn)
    },
  }
}

export function cleanText(text: string, most: number): string {
  const line = text
    .slice(0, 2 * most)
    .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
  return line.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')
}

/** A count that may be stored: 0 for an invalid one. */
export function cleanCount(count: number): number {
  return Number.isSafeInteger(count) && count >= 0 ? count : 0
}
