import type { Instant } from '../time.ts'
import type { Pace } from './pace.ts'

/** Who may send: one webhook, as it has answered so far. */
export interface Holder {
  /** Slots it holds: what it has under way. */
  busy: number
  /** Sends that its owner, or the process, lets it have under way at once. */
  room: number
  /** Sends that it is trusted with: one after it gave no answer in time, twice as many with each it gives. */
  trusted: number
  readonly pace: Pace
}

/** How the sends that a process has under way at once are shared out. */
export interface Slots {
  readonly busy: number
  /** Whether it may begin one more send. */
  hasRoom(holder: Holder, now: Instant): boolean
  take(holder: Holder, now: Instant): void
  free(holder: Holder): void
  /** How many it may have under way, were nobody else there. */
  limitOf(holder: Holder): number
}

/** Of every 32 slots 8 are for whoever has nothing under way, and answers in time. */
const KEPT_BACK = { of: 32, slots: 8 }

/**
 * Receivers that hang hold their slots for a whole attempt, and a large backlog would hold all of them.
 * So a part is kept back for those who have nothing under way, and who gives no answer in time has one
 * send at a time, of the part that is not.
 */
export function createSlots(total: number): Slots {
  const shared = total - Math.floor(total / KEPT_BACK.of) * KEPT_BACK.slots
  let busy = 0
  const limitOf = ({ room, trusted }: Holder): number => Math.min(room, trusted)
  return {
    get busy() {
      return busy
    },
    limitOf,
    hasRoom(holder, now) {
      const isNext = holder.busy === 0 && isTrusted(holder)
      return (
        busy < (isNext ? total : shared) &&
        holder.busy < limitOf(holder) &&
        holder.pace.readyAt(now) <= now
      )
    },
    take(holder, now) {
      holder.pace.take(now)
      holder.busy++
      busy++
    },
    free(holder) {
      holder.busy--
      busy--
    },
  }
}

/** Whether it has not just left a send without an answer. */
export function isTrusted({ trusted }: Holder): boolean {
  return trusted > 1
}

/** Takes in how a send went. */
export function learnFrom(holder: Holder, answeredInTime: boolean): void {
  holder.trusted = answeredInTime ? 2 * holder.trusted : 1
}
