import type { Millis } from '../../../lib/time.ts'
import { SECOND } from '../../../lib/time.ts'
import type { EditProgress } from '../../../plugins/edits/contract.ts'
import type { EditPlace, EditWrites } from '../../../plugins/store/contract/edits.ts'
import type { Platform } from '../../platform.ts'
import { cleanCount, cleanText } from './clean.ts'

/** Progress is noted at most this often. */
const SOON: Millis = SECOND
const MAX_LINES = 1000
const MAX_LINE = 500
const MAX_STAGE = 40

/** What is logged of a stage that has nothing else to say. */
const STAGES: Readonly<Record<string, string>> = {
  reading: 'Reading the files.',
  asking: 'Asking the language model.',
  repairing: 'Asking the language model to repair its answer.',
  applying: 'Applying the changes.',
}

type Line = Parameters<EditWrites['log']>[1][number]

export interface HeartbeatOptions {
  readonly platform: Pick<Platform, 'store' | 'clock'>
  readonly edit_id: string
  readonly claim: string
  readonly every: Millis
  readonly lease: Millis
  /** Called once the claim is lost, or the edit is to stop. */
  ended(why: 'lost' | 'canceled'): void
  warn(cause: unknown): void
}

/** Holds a claim, notes progress, and hears of cancellation. */
export interface Heartbeat {
  tell(report: EditProgress): void
  /** Looks at once whether the edit is still wanted. */
  look(): void
  /** Notes what was told, and goes on. */
  flush(): Promise<void>
  /** Beats no more; what was told is noted by then. */
  stop(): Promise<void>
  /** Lets another begin the edit at once; this attempt counts for none. */
  release(): Promise<void>
}

export function keepBeating(options: HeartbeatOptions): Heartbeat {
  const { platform, edit_id, claim, every, lease, ended, warn } = options
  const { store, clock } = platform
  let place: EditPlace = { stage: null, done: 0, total: null }
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
        return beat(lease)
      })
      .catch(warn)
  }

  async function beat(held: Millis): Promise<void> {
    const told = lines
    lines = []
    last = clock.now()
    beatIn(every)
    const answer = await store
      .write(async (tx) => {
        const heard = await tx.edits.beat(edit_id, claim, { lease_until: last + held, ...place })
        if (heard !== 'lost' && told.length > 0) await tx.edits.log(edit_id, told)
        return heard
      })
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

  function note(stage: string, message: string): void {
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
      else if (isNew) note(stage, STAGES[stage] ?? stage)
      if (isMore) beatIn(Math.max(0, last + SOON - clock.now()))
    },
    look,
    flush,
    async stop() {
      isStopped = true
      cancel()
      await flush()
    },
    async release() {
      const now = clock.now()
      await store.write((tx) => tx.edits.release(edit_id, claim, now)).catch(warn)
    },
  }
}
