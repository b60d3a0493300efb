import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { Call } from '../operations/call.ts'
import { accountOf } from '../authority/principal.ts'
import { pauseFor, readInTurn } from './polling.ts'

/** The part of a call that waiting needs. */
export type Waiting = Pick<Call, 'platform' | 'principal' | 'admit' | 'abandoned'>

const FIRST_LOOK: Millis = 50
const LOOK_EVERY: Millis = SECOND

/**
 * Waits for the end of something and returns its last known state, also after a timeout. Another process
 * may end it, so it is polled, at first often.
 *
 * @throws KeyhookError as soon as the caller may no longer read it, or has left
 */
export async function waitUntil<T>(
  { platform, principal, admit, abandoned }: Waiting,
  seconds: number,
  first: T,
  isOver: (known: T) => boolean,
  look: () => Promise<T | undefined>,
): Promise<T> {
  const { clock } = platform
  const until = clock.now() + seconds * SECOND
  const left = abandoned()
  const follower = { holder: accountOf(principal), left }
  let known = first
  for (let pause = FIRST_LOOK; !isOver(known); pause = Math.min(2 * pause, LOOK_EVERY)) {
    const rest = until - clock.now()
    if (rest <= 0) break
    await pauseFor(clock, Math.min(pause, rest), left)
    const found = await readInTurn(platform, follower, look)
    await admit()
    if (found === undefined) break
    known = found
  }
  return known
}
