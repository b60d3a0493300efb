import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import type { Heartbeat } from './heartbeat.ts'

/** Told of what goes wrong beside the end of a piece of work. */
export type Warn = (what: string, id: string, cause: unknown) => void

export interface WorkTimes {
  /** How long a claim holds without a beat. */
  readonly lease: Millis
  readonly beat: Millis
  /** From the first claim to the end of the work. */
  readonly deadline: Millis
}

export interface Carrier {
  /** Claims what has waited longest and carries it out to its end; false when there was none. */
  takeUp(stopping: AbortSignal): Promise<boolean>
  /** Looks at once whether what is under way is still wanted. */
  look(): void
}

/** Why a piece of work is not carried on with. */
export type Stop = 'lost' | 'stopping' | 'canceled' | 'timed_out'

export interface ClaimedWork {
  readonly clock: Pick<Clock, 'after'>
  /** Until its deadline. */
  readonly left: Millis
  readonly stopping: AbortSignal
  /** Those that beat, for whoever looks whether work is still wanted. */
  readonly beating: Set<Heartbeat>
  beat(ended: (why: 'lost' | 'canceled') => void): Heartbeat
  /** The work itself; its signal aborts when it is not to be carried on with. */
  perform(heart: Heartbeat, signal: AbortSignal): Promise<void>
  /** What becomes of work that was not done. */
  conclude(heart: Heartbeat, why: Stop | undefined, error: unknown): Promise<void>
}

/** Carries out what is claimed: its claim is held, its deadline and its cancellation are heeded. */
export async function carryUnderClaim(work: ClaimedWork): Promise<void> {
  const { clock, left, stopping, beating } = work
  const stopped: { why?: Stop } = {}
  const stop = new AbortController()
  function stopFor(why: Stop): void {
    stopped.why ??= why
    stop.abort(why === 'timed_out' ? new DOMException('late', 'TimeoutError') : undefined)
  }
  const heart = work.beat(stopFor)
  beating.add(heart)
  const cancelDeadline = clock.after(left, () => stopFor('timed_out'))
  const onStopping = (): void => stopFor('stopping')
  stopping.addEventListener('abort', onStopping, { once: true })
  if (stopping.aborted) onStopping()
  try {
    await work.perform(heart, stop.signal)
  } catch (error) {
    await heart.stop()
    await work.conclude(heart, stopped.why, error)
  } finally {
    await heart.stop()
    beating.delete(heart)
    cancelDeadline()
    stopping.removeEventListener('abort', onStopping)
  }
}

/**
 * Waits for work whether or not it heeds the signal.
 *
 * @throws what `reason` makes of the signal once it aborts
 */
export function unlessAborted<T>(
  signal: AbortSignal,
  work: Promise<T>,
  reason: (signal: AbortSignal) => Error = (aborted) => aborted.reason as Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(reason(signal))
    const settle = (tell: () => void): void => {
      signal.removeEventListener('abort', abort)
      tell()
    }
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    )
  })
}
