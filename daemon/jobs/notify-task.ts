import { createDelivery } from '../../lib/engine/enqueue.ts'
import type { NewEvent } from '../../lib/engine/ports.ts'
import type { WebhookRecord } from '../../lib/webhook/record.ts'
import type { PlatformTx } from '../../plugins/platform/contract.ts'
import type { TaskRecord } from '../../plugins/platform/contract/tasks.ts'
import type { Platform } from '../platform.ts'
import { IDENTIFIERS, defineEvents } from '../events/types.ts'
import { statusOf, updateOf } from './task-status.ts'

export type Notifying = Pick<Platform, 'engine' | 'newId' | 'clock'>

/** Of no family: an update is for the push configurations of its task, which belongs to one key. */
export const taskEvents = defineEvents([
  {
    type: 'task.updated',
    scope: IDENTIFIERS,
    description: 'The status of a task of an agent changed; sent to its push configurations alone.',
    sample: { statusUpdate: { taskId: 't_1', contextId: 'c_1', status: {} } },
    isInternal: true,
  },
])

/**
 * Enqueues the status of a task for the webhooks that receive its updates, in the unit of work that changed
 * it.
 */
export async function notifyTask(
  platform: Notifying,
  tx: PlatformTx,
  task: TaskRecord,
): Promise<void> {
  const pushes = await tx.tasks.pushes(task.id)
  if (pushes.length === 0) return
  const found = await Promise.all(
    pushes.map(({ webhook_id }) => tx.webhooks.get(task.account_id, webhook_id)),
  )
  const webhooks = found.filter((webhook) => webhook !== undefined)
  await notifyWebhooks(platform, tx, task, webhooks)
}

/** The same for webhooks that are known. */
export async function notifyWebhooks(
  { engine, newId, clock }: Notifying,
  tx: PlatformTx,
  task: TaskRecord,
  webhooks: readonly WebhookRecord[],
): Promise<void> {
  if (webhooks.length === 0) return
  const { account_id, app_id } = task
  const update = updateOf(task, await statusOf(tx.tasks, task))
  const at = clock.now()
  const created = taskEvents.newEvent(engine, account_id, 'task.updated', {}, at, app_id)
  // The body is that of the protocol, and no envelope of ours.
  const event: NewEvent = { ...created, body: Buffer.from(JSON.stringify(update)) }
  const due = event.created_at
  const deliveries = webhooks.map((webhook) => createDelivery(newId(), event, webhook, due))
  await tx.insertPublished([{ event, deliveries }])
  tx.afterCommit(() => {
    for (const { status, webhook_id } of deliveries) {
      if (status === 'pending') engine.notify({ webhook_id, account_id, due })
    }
  })
}
