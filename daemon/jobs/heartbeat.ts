import type { Clock } from '../../lib/engine/ports.ts'
import type { Instant, Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { Hold, JobLine, JobProgress } from '../../plugins/platform/contract/jobs.ts'
import { cleanCount, cleanText } from '../families/clean.ts'

/** Progress is noted at most this often. */
const SOON: Millis = SECOND
const MAX_LINES = 1000
const MAX_LINE = 500
const MAX_STAGE = 40

/** What whoever runs a job reports of it. */
export interface ProgressReport extends JobProgress {
  readonly stage: string
  /** Logged where it says something new. */
  readonly message?: string
}

type Line = Omit<JobLine, 'number'>

/** One beat: the lease is extended until then, and this is new. */
export interface Beat {
  readonly lease_until: Instant
  readonly progress: JobProgress
  readonly lines: readonly Line[]
}

export interface HeartbeatOptions {
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly every: Millis
  readonly lease: Millis
  /** What is logged of a stage that has nothing else to say; without it nothing is logged. */
  readonly stages: Readonly<Record<string, string>> | undefined
  /** Notes it in one unit of work. */
  beat(beat: Beat): Promise<Hold>
  /** Gives the job back. */
  release(given: { readonly until: Instant; readonly counted: boolean }): Promise<unknown>
  /** Called once the claim is lost, or the job is to stop. */
  ended(why: 'lost' | 'canceled'): void
  warn(cause: unknown): void
}

/** Extends a lease, notes progress, and hears of cancellation. */
export interface Heartbeat {
  /** What is being done; null before anything was reported. */
  readonly stage: string | null
  report(report: ProgressReport): void
  /** Logs a line of the stage that it is in. */
  log(message: string): void
  /** Looks at once whether the job is still wanted. */
  look(): void
  /** Notes what was told, and goes on. */
  flush(): Promise<void>
  /** Beats no more; what was told is noted by then. */
  stop(): Promise<void>
  /** Gives the job back, to be claimed at once; this attempt counts for none. */
  release(): Promise<void>
  /** Gives the job back for another attempt after a while. */
  retryAfter(delay: Millis): Promise<void>
}

export function keepBeating(options: HeartbeatOptions): Heartbeat {
  const { clock, every, lease, stages, ended, warn } = options
  let progress: JobProgress = { stage: null, done: 0, total: null }
  let lines: Line[] = []
  let written = 0
  // Never later than the next beat is due.
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
