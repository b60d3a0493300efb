import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'

/** What is looked at now and then. */
export interface Swept {
  /** @param now by the steady clock */
  look(now: Millis): void
}

/** One timer for all that is in progress: a timer of its own would cost every request. */
export interface Sweep {
  add(item: Swept): void
  delete(item: Swept): void
}

/** Looks at everything that was added, and not yet deleted, every so often. */
export function createSweep(clock: Pick<Clock, 'after' | 'steady'>, every: Millis): Sweep {
  const items = new Set<Swept>()
  let isArmed = false

  function arm(): void {
    if (isArmed || items.size === 0) return
    isArmed = true
    clock.after(every, look, 'background')
  }

  function look(): void {
    isArmed = false
    const now = clock.steady()
    for (const item of items) item.look(now)
    arm()
  }

  return {
    add(item) {
      items.add(item)
      arm()
    },
    delete(item) {
      items.delete(item)
    },
  }
}
