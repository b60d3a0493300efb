import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'

/** A clock that runs as the machine's does, and can be moved forward. */
export interface MovableClock extends Clock {
  /** Both clocks jump by `ms`, and timers that fall due run at once, in their order. */
  advance(ms: Millis): void
}

interface Timer {
  /** Of the monotonic clock. */
  readonly at: Millis
  start(): void
  cancel(): void
}

export function createMovableClock(machine: Clock): MovableClock {
  let ahead: Millis = 0
  const timers = new Set<Timer>()
  const steady = (): Millis => machine.steady() + ahead

  return {
    now: () => machine.now() + ahead,
    steady,
    after(delay, run, kind) {
      const at = steady() + delay
      let cancelWait = (): void => undefined
      const timer: Timer = {
        at,
        start() {
          cancelWait()
          cancelWait = machine.after(Math.max(0, Math.ceil(at - steady())), fire, kind)
        },
        cancel() {
          timers.delete(timer)
          cancelWait()
        },
      }
      function fire(): void {
        timers.delete(timer)
        run()
      }
      timers.add(timer)
      timer.start()
      return timer.cancel
    },
    taken: () => machine.taken(),
    advance(ms) {
      ahead += ms
      // Timers of the same delay run in the order in which they were started.
      for (const timer of [...timers].sort((a, b) => a.at - b.at)) timer.start()
    },
  }
}
