import { operation } from '../../../operations/operation.ts'
import { exampleWebhook, toWireWebhook, webhookParams, webhookRecord } from '../schema.ts'
import { findWebhook, noteChange } from '../service.ts'

export const deleteWebhook = operation({
  effect: 'write',
  id: 'webhooks.delete',
  summary: 'Delete a webhook and cancel its unfinished deliveries; returns the deleted webhook',
  method: 'DELETE',
  path: '/v1/webhooks/{webhook_id}',
  access: { scope: 'webhooks:write', pinned: 'allowed', portal: true },
  agent: { toolset: 'webhooks' },
  emits: ['webhooks'],
  input: { params: webhookParams },
  output: webhookRecord,
  errors: ['webhook_not_found'],
  example: { params: { webhook_id: exampleWebhook.id }, response: exampleWebhook },
  command: 'webhook delete',
  async run(call) {
    const { principal, tx, params, now } = call
    const webhook = await findWebhook(tx.webhooks, principal, params.webhook_id)
    await tx.webhooks.delete(webhook.id, now)
    await noteChange(call, webhook, 'webhook.deleted')
    return toWireWebhook(webhook)
  },
})
