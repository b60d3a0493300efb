import { operation } from '../../../operations/operation.ts'
import {
  deliveryParams,
  deliveryRecord,
  exampleDelivery,
  toWireDelivery,
} from '../delivery-schema.ts'
import { findDelivery, findWebhook } from '../service.ts'

export const getDelivery = operation({
  effect: 'read',
  id: 'webhooks.get_delivery',
  summary: 'Show one delivery with every attempt',
  method: 'GET',
  path: '/v1/webhooks/{webhook_id}/deliveries/{delivery_id}',
  access: { scope: 'webhooks:read', pinned: 'allowed' },
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
