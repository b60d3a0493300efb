import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { pinsOf } from '../../../authority/principal.ts'
import { listPage } from '../../cursor.ts'
import { plainText, filteredPageQuery } from '../../wire.ts'
import {
  deliveryPage,
  deliveryStatus,
  exampleDelivery,
  toWireDelivery,
  deliveryParams,
  deliveryRecord,
} from '../delivery-schema.ts'
import { exampleWebhook, webhookParams } from '../schema.ts'
import { findWebhook, findDelivery } from '../service.ts'

const query = z.strictObject({
  ...filteredPageQuery('deliveries'),
  status: deliveryStatus.optional(),
  event_type: plainText.optional(),
  event_id: plainText.optional(),
})

export const listDeliveries = operation({
  effect: 'read',
  id: 'webhooks.list_deliveries',
  summary: 'List the deliveries of a webhook with every attempt, newest event first',
  method: 'GET',
  path: '/v1/webhooks/{webhook_id}/deliveries',
  access: { scope: 'webhooks:read', pinned: 'allowed', portal: true },
  agent: { toolset: 'webhooks' },
  emits: ['webhooks'],
  input: { params: webhookParams, query },
  output: deliveryPage,
  errors: ['webhook_not_found', 'invalid_cursor'],
  example: {
    params: { webhook_id: exampleWebhook.id },
    response: { data: [exampleDelivery], has_more: false, next_cursor: null },
  },
  command: 'webhook deliveries',
  async run(call) {
    const { platform, principal, params, query } = call
    const { webhooks, deliveries } = platform.store
    const webhook = await findWebhook(webhooks, principal, params.webhook_id)
    const filters = {
      webhook_id: webhook.id,
      status: query.status ?? null,
      event_type: query.event_type ?? null,
      event_id: query.event_id ?? null,
      apps: pinsOf(principal),
    }
    const { account_id } = webhook
    return listPage(call, {
      list: { list: 'deliveries', ...filters },
      read: (range) => deliveries.list({ ...filters, account_id, ...range }),
      cursorOf: ({ delivery }) => delivery.id,
      show: () => toWireDelivery,
    })
  },
})

export const getDelivery = operation({
  effect: 'read',
  id: 'webhooks.get_delivery',
  summary: 'Show one delivery with every attempt',
  method: 'GET',
  path: '/v1/webhooks/{webhook_id}/deliveries/{delivery_id}',
  access: { scope: 'webhooks:read', pinned: 'allowed', portal: true },
  agent: { toolset: 'webhooks' },
  emits: ['webhooks'],
  input: { params: deliveryParams },
  output: deliveryRecord,
  errors: ['webhook_not_found', 'delivery_not_found'],
  example: {
    params: { webhook_id: exampleDelivery.webhook_id, delivery_id: exampleDelivery.id },
    response: exampleDelivery,
  },
  command: 'webhook delivery',
  async run({ platform, principal, params }) {
    const { webhooks, deliveries } = platform.store
    const { id } = await findWebhook(webhooks, principal, params.webhook_id)
    return toWireDelivery(await findDelivery(deliveries, principal, id, params.delivery_id))
  },
})
