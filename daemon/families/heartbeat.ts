import type { Clock } from '../../lib/engine/ports.ts'
import type { Instant, Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import { cleanCount, cleanText } from './clean.ts'

/** Progress is noted at most this often. */
const SOON: Millis = SECOND
const MAX_LINES = 1000
const MAX_LINE = 500
const MAX_STAGE = 40

/** How far a piece of work is. */
interface Place {
  readonly stage: string | null
  readonly done: number
  readonly total: number | null
}

/** What whoever carries it out tells of it. */
export interface Progress extends Place {
  readonly stage: string
  /** Logged where it says something new. */
  readonly message?: string
}

interface Line {
  readonly at: Instant
  readonly stage: string | null
  readonly message: string
}

/** One beat: the claim holds until then, and this is new. */
export interface Beat {
  readonly lease_until: Instant
  readonly place: Place
  readonly lines: readonly Line[]
}

export interface HeartbeatOptions {
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly every: Millis
  readonly lease: Millis
  /** What is logged of a stage that has nothing else to say. */
  readonly stages: Readonly<Record<string, string>>
  /** Notes it in one unit of work: `cancel` when the work is to stop, `lost` when it is another's. */
  beat(beat: Beat): Promise<'held' | 'cancel' | 'lost'>
  /** Lets go of the claim. */
  release(now: Instant): Promise<unknown>
  /** Called once the claim is lost, or the work is to stop. */
  ended(why: 'lost' | 'canceled'): void
  warn(cause: unknown): void
}

/** Holds a claim, notes progress, and hears of cancellation. */
export interface Heartbeat {
  tell(report: Progress): void
  /** Logs a line of the stage that it is in. */
  say(message: string): void
  /** Looks at once whether the work is still wanted. */
  look(): void
  /** Notes what was told, and goes on. */
  flush(): Promise<void>
  /** Beats no more; what was told is noted by then. */
  stop(): Promise<void>
  /** Lets another begin it at once; this attempt counts for none. */
  release(): Promise<void>
}

export function keepBeating(options: HeartbeatOptions): Heartbeat {
  const { clock, every, lease, stages, ended, warn } = options
  let place: Place = { stage: null, done: 0, total: null }
  let lines: Line[] = []
  let written = 0
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
    const told = lines
    lines = []
    last = clock.now()
    beatIn(every)
    const answer = await options
      .beat({ lease_until: last + lease, place, lines: told })
      .catch((cause: unknown) => {
        lines = [...told, ...lines]
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
    if (written >= MAX_LINES) return
    written++
    lines.push({ at: clock.now(), stage, message: cleanText(message, MAX_LINE) })
  }

  beatIn(every)
  return {
    tell({ stage, done, total, message }) {
      if (isStopped) return
      const isNew = stage !== place.stage
      const isMore = isNew || done !== place.done
      place = {
        stage: cleanText(stage, MAX_STAGE),
        done: cleanCount(done),
        total: total === null ? null : cleanCount(total),
      }
      if (message !== undefined && isMore) note(stage, message)
      else if (isNew) note(stage, stages[stage] ?? stage)
      if (isMore) beatIn(Math.max(0, last + SOON - clock.now()))
    },
    say(message) {
      if (isStopped) return
      note(place.stage, message)
      beatIn(Math.max(0, last + SOON - clock.now()))
    },
    look,
    flush,
    async stop() {
      isStopped = true
      cancel()
      await flush()
    },
    async release() {
      await options.release(clock.now()).catch(warn)
    },
  }
}
