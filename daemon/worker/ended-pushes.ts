import { FULL_AUTHORITY } from '../../lib/grant/authority.ts'
import type { Instant, Millis } from '../../lib/time.ts'
import { DAY } from '../../lib/time.ts'
import type { OperatorPrincipal } from '../authority/principal.ts'
import { endPush } from '../families/webhooks/end-push.ts'
import type { Platform } from '../platform.ts'

/** Longer than a delivery is retried. */
const KEPT_FOR: Millis = 4 * DAY
const AT_ONCE = 100

/** Deletes the webhooks of tasks that ended long ago, as the operator, and returns their number. */
export async function deleteEndedPushes(
  platform: Platform,
  now: Instant,
  isStopping: () => boolean = () => false,
): Promise<number> {
  const { store, newId } = platform
  const requestId = `req_${newId()}`
  let deleted = 0
  for (let isFull = true; isFull && !isStopping();) {
    const ended = await store.tasks.endedPushes(null, now - KEPT_FOR, AT_ONCE)
    for (const push of ended) {
      const principal: OperatorPrincipal = {
        type: 'operator',
        account_id: push.account_id,
        authority: FULL_AUTHORITY,
      }
      await store.write((tx) =>
        endPush({ tx, platform, principal, now, requestId, ip: '', via: null }, push),
      )
    }
    deleted += ended.length
    isFull = ended.length === AT_ONCE
  }
  return deleted
}
