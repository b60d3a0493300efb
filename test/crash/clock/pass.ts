import type { Jumping } from '../checks/settled.ts'
import { AT_ONCE, serve } from '../deaths.ts'
import type { Supervisor } from '../supervisor.ts'
import type { WrongClock } from './wrong.ts'

/** What a clock that was ahead put off for hours is not waited for: the clock jumps there. */
export function jumpingOf(clock: WrongClock, supervisor: Supervisor): Jumping {
  return {
    ahead: () => clock.furthest.ahead,
    async pass(millis) {
      await supervisor.die(AT_ONCE)
      clock.set(clock.offset + millis)
      await serve(supervisor)
    },
  }
}
