import { setTimeout as delay } from 'node:timers/promises'
import type { Millis } from '../../lib/time.ts'
import type { Platform } from '../platform.ts'

/** Interval of looking. */
const LOOK_EVERY: Millis = 5

/**
 * Waits until every delivery that is due was attempted and its outcome is recorded, at most for a time of the
 * machine's clock. False: something is still due, such as for a receiver that does not answer.
 */
export async function untilIdle(
  { store, clock, engine }: Pick<Platform, 'store' | 'clock' | 'engine'>,
  most: Millis,
): Promise<boolean> {
  const end = performance.now() + most
  for (;;) {
    // Before what is due is read: an outcome that was being judged may have published an event since.
    const wasIdle = engine.isIdle
    const heads = await store.queueHeads()
    const now = clock.now()
    const isDue = heads.some((head) => isPast(head.first_due, now) || isPast(head.retry_due, now))
    if (wasIdle && !isDue && engine.isIdle) return true
    if (performance.now() > end) return false
    await delay(LOOK_EVERY)
  }
}

function isPast(due: number | null, now: number): boolean {
  return due !== null && due <= now
}
