import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'

const FIRST_LOOK: Millis = 50
const LOOK_EVERY: Millis = SECOND

/**
 * What is known once it is over, or as it is when the time is. Whatever it is about may end in another
 * process, so it is looked at, at first often; what is gone is answered as it was known last.
 */
export async function waitUntil<T>(
  clock: Pick<Clock, 'now' | 'after'>,
  seconds: number,
  first: T,
  isOver: (known: T) => boolean,
  look: () => Promise<T | undefined>,
): Promise<T> {
  const until = clock.now() + seconds * SECOND
  let known = first
  for (let pause = FIRST_LOOK; !isOver(known); pause = Math.min(2 * pause, LOOK_EVERY)) {
    const left = until - clock.now()
    if (left <= 0) break
    await new Promise<void>((resolve) => {
      clock.after(Math.min(pause, left), resolve)
    })
    const found = await look()
    if (found === undefined) break
    known = found
  }
  return known
}
