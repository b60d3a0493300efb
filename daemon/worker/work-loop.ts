import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import type { Log } from '../telemetry/log.ts'

/** Carries out what waits in the store, piece by piece. */
export interface WorkLoop {
  /** Something may have come to be done. */
  wake(): void
  /** Aborts what is under way, waits until it ended, and begins nothing more. */
  stop(): Promise<void>
}

export interface WorkLoopOptions {
  /** For the log. */
  readonly name: string
  /** Whether there is anything to take up; asked at every look. */
  isClaimable(): Promise<boolean>
  /** Claims one piece and carries it out to its end; false when there was none. */
  takeUp(stopping: AbortSignal): Promise<boolean>
  /** Pieces under way at once. */
  readonly most: number
  /** From one look to the next when nobody wakes it. */
  readonly every: Millis
  readonly clock: Pick<Clock, 'after'>
  readonly log: Log
}

/** Starts a loop that looks for work now, every so often, and at once when it is woken. */
export function keepWorking(options: WorkLoopOptions): WorkLoop {
  const { name, most, every, clock, log } = options
  const stopping = new AbortController()
  const hands = new Set<Promise<void>>()
  let wakes = 0
  let looking: Promise<void> | undefined
  let cancel = (): void => undefined

  function warn(cause: unknown): void {
    log.warn({ err: cause, work: name }, 'work failed and is looked for again')
  }

  /** Goes on until there is nothing left, also of what was announced while it was finding out. */
  async function workOff(): Promise<void> {
    let seen: number
    do seen = wakes
    while ((await takeUp()) || (seen !== wakes && !stopping.signal.aborted))
  }

  async function takeUp(): Promise<boolean> {
    return !stopping.signal.aborted && (await options.takeUp(stopping.signal))
  }

  function lendHand(): void {
    const hand = workOff()
      .catch(warn)
      .finally(() => hands.delete(hand))
    hands.add(hand)
  }

  async function look(): Promise<void> {
    cancel()
    let seen: number
    do {
      seen = wakes
      const isClaimable = await options.isClaimable().catch(warn)
      while (isClaimable === true && hands.size < most && !stopping.signal.aborted) lendHand()
    } while (seen !== wakes && !stopping.signal.aborted)
    looking = undefined
    if (!stopping.signal.aborted) cancel = clock.after(every, start)
  }

  function start(): void {
    if (!stopping.signal.aborted) looking ??= look()
  }

  start()
  return {
    wake() {
      wakes++
      start()
    },
    async stop() {
      stopping.abort()
      cancel()
      await looking
      await Promise.all(hands)
    },
  }
}
