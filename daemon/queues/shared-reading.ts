import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'

/** Returns a function that runs `read` at most once at a time, and shares its result for a moment. */
export function createSharedReading<T>(
  clock: Clock,
  kept: Millis,
  read: () => Promise<T>,
): () => Promise<T> {
  let last: Promise<T> | undefined
  return () => {
    if (last !== undefined) return last
    const own = read()
    last = own
    const forget = (): void => {
      clock.after(
        kept,
        () => {
          if (last === own) last = undefined
        },
        'background',
      )
    }
    own.then(forget, forget)
    return own
  }
}
