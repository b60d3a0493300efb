import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { Call } from '../family.ts'

/** Of a call, what waiting takes. */
export type Waiting = Pick<Call, 'platform' | 'admit'>

const FIRST_LOOK: Millis = 50
const LOOK_EVERY: Millis = SECOND

/**
 * What is known once it is over, or as it is when the time is. Whatever it is about may end in another
 * process, so it is looked at, at first often; what is gone is answered as it was known last.
 *
 * @throws KeyhookError as soon as the caller may not be told any more
 */
export async function waitUntil<T>(
  { platform, admit }: Waiting,
  seconds: number,
  first: T,
  isOver: (known: T) => boolean,
  look: () => Promise<T | undefined>,
): Promise<T> {
  const { clock } = platform
  const until = clock.now() + seconds * SECOND
  let known = first
  for (let pause = FIRST_LOOK; !isOver(known); pause = Math.min(2 * pause, LOOK_EVERY)) {
    const left = until - clock.now()
    if (left <= 0) break
    await new Promise<void>((resolve) => {
      clock.after(Math.min(pause, left), resolve)
    })
    const found = await look()
    await admit()
    if (found === undefined) break
    known = found
  }
  return known
}
