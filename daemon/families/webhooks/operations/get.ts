import { operation } from '../../../operations/operation.ts'
import { exampleWebhook, toWireWebhook, webhookParams, webhookRecord } from '../schema.ts'
import { findWebhook } from '../service.ts'

export const getWebhook = operation({
  effect: 'read',
  id: 'webhooks.get',
  summary: 'Show one webhook',
  method: 'GET',
  path: '/v1/webhooks/{webhook_id}',
  access: { scope: 'webhooks:read', pinned: 'allowed' },
  emits: ['webhooks'],
  input: { params: webhookParams },
  output: webhookRecord,
  errors: ['webhook_not_found'],
  example: { params: { webhook_id: exampleWebhook.id }, response: exampleWebhook },
  command: 'webhook get',
  async run({ platform, principal, params }) {
    return toWireWebhook(await findWebhook(platform.store.webhooks, principal, params.webhook_id))
  },
})
