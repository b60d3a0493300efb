import { SECOND } from '../../lib/time.ts'
import type { Platform } from '../platform.ts'
import { createSharedReading } from '../queues/shared-reading.ts'
import type { BacklogStatus } from '../telemetry/delivery-metrics.ts'

/** Maximum deliveries that a reading counts. */
const MOST_COUNTED = 10_000
const KEPT = 5 * SECOND

/**
 * Returns a function that reads the backlog. Its cost depends on the number of webhooks with unfinished
 * deliveries, not on that of deliveries. Undefined when the store does not answer.
 */
export function createBacklogReading({
  store,
  clock,
}: Pick<Platform, 'store' | 'clock'>): () => Promise<BacklogStatus | undefined> {
  const read = async (): Promise<BacklogStatus> => {
    const [heads, deliveries] = await Promise.all([
      store.queueHeads(),
      store.countUnfinished(MOST_COUNTED),
    ])
    const now = clock.now()
    // Of a claimed delivery it is the end of its lease.
    const due = heads
      .map(({ first_due, retry_due }) => Math.min(first_due ?? Infinity, retry_due ?? Infinity))
      .filter((at) => at <= now)
    return {
      deliveries,
      webhooks: heads.length,
      due_webhooks: due.length,
      oldest_due: due.length === 0 ? null : due.reduce((a, b) => Math.min(a, b)),
    }
  }
  return createSharedReading(clock, KEPT, () => read().catch(() => undefined))
}
