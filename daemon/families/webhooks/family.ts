import { defineFamily } from '../../operations/family.ts'
import { webhookError } from './errors.ts'
import { webhookEvents } from './events.ts'
import { createWebhook } from './operations/create.ts'
import { deleteWebhook } from './operations/delete.ts'
import { getDelivery, listDeliveries } from './operations/read-deliveries.ts'
import { getWebhook, listWebhooks } from './operations/read.ts'
import { replayEvents } from './operations/replay.ts'
import { retryDelivery } from './operations/retry-delivery.ts'
import { retryFailed } from './operations/retry-failed.ts'
import { rotateSecret } from './operations/rotate-secret.ts'
import { testWebhook } from './operations/send-test.ts'
import { updateWebhook } from './operations/update.ts'

/** Webhooks: addresses that receive signed events, and the outcome of every delivery. */
export const webhooksFamily = defineFamily({
  name: 'webhooks',
  scopes: { webhooks: ['read', 'write'] },
  events: webhookEvents.types,
  errors: webhookError,
  operations: [
    listWebhooks,
    createWebhook,
    getWebhook,
    updateWebhook,
    deleteWebhook,
    testWebhook,
    rotateSecret,
    retryFailed,
    replayEvents,
    listDeliveries,
    getDelivery,
    retryDelivery,
  ],
})
