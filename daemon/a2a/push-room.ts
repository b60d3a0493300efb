import type { Instant } from '../../lib/time.ts'
import type { WebhookRecord } from '../../lib/webhook/record.ts'
import type { TaskPush, TaskReads } from '../../plugins/platform/contract/tasks.ts'
import type { DeliveryReads } from '../../plugins/store/contract/deliveries.ts'
import type { Change } from '../families/audit/note.ts'
import { endPush, isOfPush, isSending } from '../families/webhooks/end-push.ts'
import { webhookError } from '../families/webhooks/errors.ts'
import { MAX_WEBHOOKS } from '../families/webhooks/insert.ts'
import { a2aError } from './errors.ts'

/** Maximum pushes of one task. */
const MAX_PUSHES = 10

/** Maximum pushes of ended tasks that are looked at: webhooks of some may have been deleted. */
const MAX_ENDED = 10 * MAX_WEBHOOKS

interface Reads {
  readonly tasks: Pick<TaskReads, 'pushes' | 'endedPushes'>
  readonly deliveries: Pick<DeliveryReads, 'hasUnfinishedBeyond'>
  webhooksOf(accountId: string): Promise<readonly WebhookRecord[]>
}

/** A push that is wanted: what has its id is replaced. */
type Wanted = Pick<TaskPush, 'account_id' | 'task_id' | 'id'>

/**
 * Refuses a push that there is no room for.
 *
 * @throws KeyhookError `too_many_pushes`, `webhook_limit_reached`
 */
export async function judgeRoom(reads: Reads, wanted: Wanted, now: Instant): Promise<void> {
  const { account_id, task_id, id } = wanted
  const held = await reads.webhooksOf(account_id)
  const pushes = await reads.tasks.pushes(task_id)
  requireFewer(staying(pushes, held, id))
  if (held.length < MAX_WEBHOOKS || pushes.some((push) => push.id === id)) return
  const { done } = await idlePushes(reads, account_id, held, now).next()
  if (done === true) throw webhookError('webhook_limit_reached')
}

/**
 * Ends the push that a new one replaces, those of its task whose webhook was deleted and, when the account
 * has its maximum of webhooks, those of ended tasks that have nothing left to send.
 *
 * @throws KeyhookError `too_many_pushes`
 */
export async function endBefore(call: Change, wanted: Wanted): Promise<void> {
  const { tx, now } = call
  const { account_id, task_id, id } = wanted
  const pushes = await tx.tasks.pushes(task_id)
  const stay = staying(pushes, await tx.webhooksOf(account_id), id)
  requireFewer(stay)
  for (const push of pushes) if (!stay.includes(push)) await endPush(call, push)
  const held = await tx.webhooksOf(account_id)
  if (held.length < MAX_WEBHOOKS) return
  for await (const push of idlePushes(tx, account_id, held, now)) await endPush(call, push)
}

/** Pushes of ended tasks that have nothing left to send, and whose webhook serves them alone. */
async function* idlePushes(
  { tasks, deliveries }: Reads,
  accountId: string,
  held: readonly WebhookRecord[],
  now: Instant,
): AsyncGenerator<TaskPush, void> {
  const own = new Set(held.filter(isOfPush).map((webhook) => webhook.id))
  for (const push of await tasks.endedPushes(accountId, now, MAX_ENDED)) {
    if (own.has(push.webhook_id) && !(await isSending(deliveries, push))) yield push
  }
}

/** The pushes of a task that stay beside the one of an id. */
function staying(
  pushes: readonly TaskPush[],
  held: readonly WebhookRecord[],
  id: string,
): readonly TaskPush[] {
  const there = new Set(held.map((webhook) => webhook.id))
  return pushes.filter((push) => push.id !== id && there.has(push.webhook_id))
}

function requireFewer(pushes: readonly TaskPush[]): void {
  if (pushes.length >= MAX_PUSHES) throw a2aError('too_many_pushes')
}
