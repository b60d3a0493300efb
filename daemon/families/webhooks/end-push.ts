import type { WebhookRecord } from '../../../lib/webhook/record.ts'
import type { TaskPush } from '../../../plugins/platform/contract/tasks.ts'
import type { DeliveryReads } from '../../../plugins/store/contract/deliveries.ts'
import type { Change } from '../audit/note.ts'
import { noteChange } from './service.ts'

/**
 * Drops a push of a task, and deletes its webhook. Changes nothing when it was dropped or replaced
 * meanwhile.
 */
export async function endPush(call: Change, push: TaskPush): Promise<void> {
  const { tx, now } = call
  if (!(await tx.tasks.dropPush(push))) return
  const webhook = await tx.webhooks.get(push.account_id, push.webhook_id)
  if (webhook === undefined || !isOfPush(webhook)) return
  await tx.webhooks.delete(webhook.id, now)
  await noteChange(call, webhook, 'webhook.deleted')
}

/** Whether a webhook serves a push alone: one that its owner subscribed to events is theirs. */
export function isOfPush({ events }: Pick<WebhookRecord, 'events'>): boolean {
  return events.length === 0
}

/** Whether a push has updates left to send. */
export function isSending(
  deliveries: Pick<DeliveryReads, 'hasUnfinishedBeyond'>,
  { webhook_id }: TaskPush,
): Promise<boolean> {
  return deliveries.hasUnfinishedBeyond(webhook_id, { types: [], apps: null })
}
