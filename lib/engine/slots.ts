import type { Instant } from '../time.ts'
import type { Pace } from './pace.ts'

/** The concurrency of one webhook, which adapts to its responses. */
export interface SlotHolder {
  /** Sends in progress. */
  busy: number
  /** Maximum concurrent sends: the lower limit of the webhook and the process. */
  concurrency: number
  /** Adaptive maximum: 1 after a timeout, doubled by every response in time. */
  adaptive_limit: number
  readonly pace: Pace
}

/** The concurrent sends of a process, shared by its webhooks. */
export interface Slots {
  readonly busy: number
  /** Whether a webhook may begin one more send. */
  hasFreeSlot(holder: SlotHolder, now: Instant): boolean
  take(holder: SlotHolder, now: Instant): void
  free(holder: SlotHolder): void
  /** Maximum concurrent sends of a webhook when no other one is sending. */
  limitOf(holder: SlotHolder): number
}

/** Of every 32 slots 8 are reserved for responsive webhooks without a send in progress. */
const RESERVED = { of: 32, slots: 8 }

/**
 * A receiver that hangs occupies its slots until the timeout, and one with a large backlog would occupy
 * all of them. Therefore some slots are reserved for webhooks without a send in progress, and a webhook
 * that timed out has one send at a time, outside of the reserved slots.
 */
export function createSlots(total: number): Slots {
  const shared = total - Math.floor(total / RESERVED.of) * RESERVED.slots
  let busy = 0
  const limitOf = ({ concurrency, adaptive_limit }: SlotHolder): number =>
    Math.min(concurrency, adaptive_limit)
  return {
    get busy() {
      return busy
    },
    limitOf,
    hasFreeSlot(holder, now) {
      const isNext = holder.busy === 0 && isResponsive(holder)
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

/** Whether the last send was answered in time. */
export function isResponsive({ adaptive_limit }: SlotHolder): boolean {
  return adaptive_limit > 1
}

/** Adapts the limit of a webhook to the result of a send. */
export function recordResponse(holder: SlotHolder, answeredInTime: boolean): void {
  holder.adaptive_limit = answeredInTime ? 2 * holder.adaptive_limit : 1
}
