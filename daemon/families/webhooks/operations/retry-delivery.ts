import { z } from 'zod'
import { MOST_ATTEMPTS } from '../../../../plugins/store/contract/deliveries.ts'
import { requireReceivable } from '../../../events/authority.ts'
import { operation } from '../../../operations/operation.ts'
import { audit, originsOf } from '../../audit/note.ts'
import {
  deliveryParams,
  deliveryRecord,
  exampleDelivery,
  toWireDelivery,
} from '../delivery-schema.ts'
import { webhookError } from '../errors.ts'
import { findDelivery, findWebhook } from '../service.ts'

export const retryDelivery = operation({
  effect: 'write',
  id: 'webhooks.retry_delivery',
  summary: 'Retry an ended delivery: same event, same bytes, new signature',
  method: 'POST',
  path: '/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/retry',
  access: { scope: 'webhooks:write', pinned: 'allowed', portal: true },
  agent: { toolset: 'webhooks', openWorld: true },
  emits: ['webhooks'],
  input: { params: deliveryParams, body: z.strictObject({}).optional() },
  output: deliveryRecord,
  status: 202,
  watch: ({ webhook_id, id }) => `/v1/webhooks/${webhook_id}/deliveries/${id}`,
  errors: [
    'webhook_not_found',
    'delivery_not_found',
    'delivery_in_progress',
    'retry_limit_reached',
    'webhook_disabled',
  ],
  example: {
    params: { webhook_id: exampleDelivery.webhook_id, delivery_id: exampleDelivery.id },
    response: {
      ...exampleDelivery,
      status: 'pending',
      trigger: 'manual',
      next_attempt_at: '2026-01-31T12:30:00.000Z',
    },
  },
  command: 'webhook retry',
  async run(call) {
    const { platform, principal, tx, params, now } = call
    const webhook = await findWebhook(tx.webhooks, principal, params.webhook_id)
    const find = () => findDelivery(tx.deliveries, principal, webhook.id, params.delivery_id)
    const { delivery } = await find()
    requireReceivable(platform, principal.authority, [delivery.event_type])
    if (webhook.status === 'disabled') throw webhookError('webhook_disabled')
    if (delivery.attempts >= MOST_ATTEMPTS) throw webhookError('retry_limit_reached')
    if (!(await tx.deliveries.requestRetry(delivery.id, now))) {
      throw webhookError('delivery_in_progress')
    }
    const { account_id, webhook_id, app_id } = delivery
    await audit(call, {
      account_id,
      action: 'delivery.retried',
      target_type: 'delivery',
      target_id: delivery.id,
      app_id,
      origins: originsOf(webhook),
    })
    tx.afterCommit(() => {
      platform.engine.notify({ webhook_id, account_id, due: now })
    })
    return toWireDelivery(await find())
  },
})
