import { z } from 'zod'
import { kernelError } from '../../../../lib/errors.ts'
import { createDelivery } from '../../../../lib/engine/enqueue.ts'
import type { DeliveryRecord, NewEvent } from '../../../../lib/engine/ports.ts'
import type { WebhookRecord } from '../../../../lib/webhook/record.ts'
import { operation } from '../../../operations/operation.ts'
import type { Platform } from '../../../platform.ts'
import { writeInTurn } from '../../../queues/writes.ts'
import { audit, originsOf } from '../../audit/note.ts'
import { deliveryRecord, exampleDelivery, toWireDelivery } from '../delivery-schema.ts'
import { webhookError } from '../errors.ts'
import { TEST_EVENT, webhookEvents } from '../events.ts'
import { exampleWebhook, webhookParams } from '../schema.ts'
import { findWebhook } from '../service.ts'

const MESSAGE = 'This is a test: the webhook works when it is answered with a 2xx status.'

const [attempt] = exampleDelivery.attempts

export const testWebhook = operation({
  effect: 'own',
  id: 'webhooks.test',
  summary: 'Send a webhook.test event now and return the attempt',
  method: 'POST',
  path: '/v1/webhooks/{webhook_id}/test',
  access: { scope: 'webhooks:write', pinned: 'allowed', portal: true },
  agent: { toolset: 'webhooks' },
  emits: ['webhooks'],
  input: { params: webhookParams, body: z.strictObject({}).optional() },
  output: deliveryRecord,
  errors: ['webhook_not_found', 'secret_unreadable'],
  example: {
    params: { webhook_id: exampleWebhook.id },
    response: {
      ...exampleDelivery,
      event_type: TEST_EVENT,
      app_id: null,
      trigger: 'test',
      attempts: [{ ...attempt, trigger: 'test' }],
    },
  },
  command: 'webhook test',
  failure: failureOf,
  async run(call) {
    const { platform, principal, params } = call
    const { store, engine } = platform
    const webhook = await findWebhook(store.webhooks, principal, params.webhook_id)
    const { account_id } = webhook
    const target = await engine.targets.find(account_id, webhook.id)
    if (target === undefined) throw webhookError('webhook_not_found')
    if (target.secrets === undefined) throw kernelError('secret_unreadable')

    const data = { webhook_id: webhook.id, message: MESSAGE }
    // An app of the webhook, so that a key pinned to it can read the outcome of the test.
    const app = webhook.apps?.[0] ?? null
    const now = platform.clock.now()
    const event = webhookEvents.newEvent(engine, account_id, TEST_EVENT, data, now, app)
    const delivery = createClaimed(platform, event, webhook)
    await writeInTurn(call, async (tx) => {
      await findWebhook(tx.webhooks, principal, webhook.id)
      await tx.insertPublished([{ event, deliveries: [delivery] }])
      await audit(
        { ...call, tx },
        {
          account_id,
          action: 'webhook.tested',
          target_type: 'webhook',
          target_id: webhook.id,
          origins: originsOf(webhook),
        },
      )
    })
    await engine.dispatcher.sendNow(delivery, event.body, target)
    const sent = await store.deliveries.get(account_id, webhook.id, delivery.id)
    if (sent === undefined) throw webhookError('delivery_not_found')
    return toWireDelivery(sent)
  },
})

/** Why the test failed, in words. */
function failureOf(answer: Readonly<Record<string, unknown>>): string | undefined {
  const { status, attempts = [] } = answer as Partial<z.input<typeof deliveryRecord>>
  if (status === 'succeeded') return undefined
  const last = attempts.at(-1)
  if (last === undefined) return `The test was not delivered: it is ${status}.`
  const { error, response } = last
  const answered = response === null ? '' : `, the receiver answered ${response.status_code}`
  return `The test was not delivered${answered}: ${error?.message ?? status}`
}

/**
 * Enqueued as claimed by this process, also for a disabled webhook: if the process dies, the lease expires.
 */
function createClaimed(
  { engine, newId, clock }: Platform,
  event: NewEvent,
  webhook: WebhookRecord,
): DeliveryRecord {
  const now = clock.now()
  return {
    ...createDelivery(newId(), event, webhook, now),
    status: 'delivering',
    trigger: 'test',
    claim: engine.newClaim(),
    next_at: now + engine.lease,
    done_at: null,
  }
}
