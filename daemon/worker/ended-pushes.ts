import type { Instant, Millis } from '../../lib/time.ts'
import { DAY } from '../../lib/time.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'

/** Longer than a delivery is retried. */
const KEPT_FOR: Millis = 4 * DAY
const AT_ONCE = 100

/** Deletes the webhooks of tasks that ended long ago, and returns their number. */
export async function deleteEndedPushes(
  store: Pick<PlatformStore, 'tasks' | 'write'>,
  now: Instant,
  isStopping: () => boolean = () => false,
): Promise<number> {
  let deleted = 0
  for (let isFull = true; isFull && !isStopping();) {
    const ended = await store.tasks.endedPushes(null, now - KEPT_FOR, AT_ONCE)
    for (const push of ended) {
      await store.write(async (tx) => {
        await tx.tasks.dropPush(push)
        const webhook = await tx.webhooks.get(push.account_id, push.webhook_id)
        // Its owner may have subscribed it to events: it is theirs then.
        if (webhook?.events.length === 0) await tx.webhooks.delete(webhook.id, now)
      })
    }
    deleted += ended.length
    isFull = ended.length === AT_ONCE
  }
  return deleted
}
