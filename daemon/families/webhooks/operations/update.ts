import type { z } from 'zod'
import type { WebhookChanges } from '../../../../plugins/store/contract/webhooks.ts'
import { writeOperation } from '../../../family.ts'
import {
  exampleWebhook,
  toWireWebhook,
  webhookChanges,
  webhookParams,
  webhookRecord,
} from '../schema.ts'
import { findWebhook, grantApps, judgeTarget, noteChange, requireKnownTypes } from '../service.ts'

export const updateWebhook = writeOperation({
  id: 'webhooks.update',
  summary: 'Change a webhook, disable it, or enable it again',
  method: 'PATCH',
  path: '/v1/webhooks/{webhook_id}',
  access: { scope: 'webhooks:write', pinned: 'allowed' },
  input: { params: webhookParams, body: webhookChanges },
  output: webhookRecord,
  errors: [
    'webhook_not_found',
    'invalid_url',
    'url_not_public',
    'unknown_event_type',
    'scope_not_delegable',
  ],
  example: {
    params: { webhook_id: exampleWebhook.id },
    body: { description: 'Tells the chat' },
    response: exampleWebhook,
  },
  command: 'webhook update',
  /** What is not visible is not found, before anything is said about the changes or looked up for them. */
  async prepare({ platform, principal, params, body }) {
    const { store } = platform
    const { account_id } = await findWebhook(store.webhooks, principal, params.webhook_id)
    if (body.apps !== undefined) grantApps(principal, body.apps)
    if (body.events !== undefined) await requireKnownTypes(platform, account_id, body.events)
    return body.url === undefined ? undefined : judgeTarget(platform, body.url)
  },
  async run(call) {
    const { principal, tx, params, body, prepared: url, now } = call
    const webhook = await findWebhook(tx.webhooks, principal, params.webhook_id)
    const changes = changesOf(body, url)
    if (Object.keys(changes).length > 0) await tx.webhooks.update(webhook.id, changes, now)
    // Another address owes nothing to the failures of the one before; to be sent to again, a disabled
    // webhook must still be enabled.
    const moved = url !== undefined && url !== webhook.url && webhook.status === 'active'
    if (body.status === 'disabled') await tx.webhooks.disable(webhook.id, 'manual', now)
    else if (body.status === 'active' || moved) await tx.webhooks.enable(webhook.id, now)
    await noteChange(call, webhook.id, 'webhook.updated')
    return toWireWebhook(await findWebhook(tx.webhooks, principal, webhook.id))
  },
})

function changesOf(
  { events, description, apps, standard_headers }: z.output<typeof webhookChanges>,
  url: string | undefined,
): WebhookChanges {
  return {
    ...(url === undefined ? {} : { url }),
    ...(events === undefined ? {} : { events }),
    ...(description === undefined ? {} : { description }),
    ...(apps === undefined ? {} : { apps }),
    ...(standard_headers === undefined ? {} : { standard_headers }),
  }
}
