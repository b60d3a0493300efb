import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'

/** The least that a transfer moves on average, in bytes a second. */
const LEAST = 1024
/** How far behind a transfer may be: at its beginning, and whenever it was fast before. */
const PATIENCE: Millis = 30 * SECOND
const LOOK_EVERY: Millis = 5 * SECOND

/** What a transfer that is watched tells. */
export interface Pace {
  /** Bytes have come, or gone. */
  moved(bytes: number): void
  /** Watches no more. */
  stop(): void
}

export interface PaceOptions {
  readonly clock: Pick<Clock, 'after' | 'steady'>
  /** In bytes a second; default 1 KiB. */
  readonly least?: number
  /** Default 30 seconds. */
  readonly patience?: Millis
  /** Whether it is the other side that is waited for; what we hold up is not held against it. */
  isWaiting(): boolean
  /** Called once, when the other side is too far behind. */
  tooSlow(): void
}

/**
 * Watches that a transfer does not crawl: who moves a byte now and then would hold its place for ever.
 *
 * Time spends patience, and bytes earn it back at the least pace, up to what there was at first.
 */
export function watchPace({
  clock,
  least = LEAST,
  patience = PATIENCE,
  isWaiting,
  tooSlow,
}: PaceOptions): Pace {
  let left = patience
  let looked = clock.steady()
  let cancel = clock.after(LOOK_EVERY, look)

  function look(): void {
    const now = clock.steady()
    if (isWaiting()) left -= now - looked
    looked = now
    if (left < 0) tooSlow()
    else cancel = clock.after(LOOK_EVERY, look)
  }

  return {
    moved(bytes) {
      left = Math.min(patience, left + (bytes * SECOND) / least)
    },
    stop() {
      cancel()
    },
  }
}
