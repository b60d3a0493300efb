import { HEALTHY } from '../../../../lib/delivery/health.ts'
import { secretPlace } from '../../../../lib/engine/targets.ts'
import type { WebhookRecord } from '../../../../lib/webhook/record.ts'
import { mintSecret, secretDisplay } from '../../../../lib/webhook/secret.ts'
import { writeOperation } from '../../../family.ts'
import { accountOf, creatorOf } from '../../../principal.ts'
import { webhookError } from '../errors.ts'
import { createdWebhook, exampleWebhook, toWireWebhook, webhookCreation } from '../schema.ts'
import { grantApps, judgeTarget, noteChange, requireKnownTypes } from '../service.ts'

/** Webhooks that one account may have, disabled ones included. */
const MAX_WEBHOOKS = 50

export const createWebhook = writeOperation({
  id: 'webhooks.create',
  summary: 'Register an address that receives events; its signing secret is shown once',
  method: 'POST',
  path: '/v1/webhooks',
  access: { scope: 'webhooks:write', pinned: 'allowed' },
  input: { body: webhookCreation },
  output: createdWebhook,
  status: 201,
  errors: [
    'invalid_url',
    'url_not_public',
    'unknown_event_type',
    'scope_not_delegable',
    'webhook_limit_reached',
  ],
  example: {
    body: {
      url: 'https://hooks.example.com/in',
      events: ['app.deployed'],
      description: 'Tells the chat',
    },
    response: {
      ...exampleWebhook,
      last_success_at: null,
      last_delivery_at: null,
      secret: 'whsec_q83vEjRWeJq7zd7wEjRW…',
    },
  },
  secret: ['secret'],
  command: 'webhook create',
  async prepare({ platform, principal, body }) {
    const apps = grantApps(principal, body.apps)
    await requireKnownTypes(platform, accountOf(principal), body.events)
    return { apps, url: await judgeTarget(platform, body.url) }
  },
  async run(call) {
    const { platform, principal, tx, body, prepared, now } = call
    const account_id = accountOf(principal)
    const held = await tx.webhooks.ofAccount(account_id)
    if (held.length >= MAX_WEBHOOKS) throw webhookError('webhook_limit_reached')

    const secret = mintSecret(platform.random)
    const secretId = platform.newId()
    const webhook: WebhookRecord = {
      ...HEALTHY,
      ...prepared,
      id: platform.newId(),
      account_id,
      events: body.events,
      description: body.description ?? null,
      status: 'active',
      disabled_reason: null,
      disabled_at: null,
      standard_headers: body.standard_headers ?? false,
      last_success_at: null,
      last_delivery_at: null,
      created_by: creatorOf(principal),
      created_at: now,
      updated_at: now,
      secrets: [
        {
          id: secretId,
          sealed: platform.keyring.seal(secret, secretPlace(secretId)),
          display: secretDisplay(secret),
          created_at: now,
          not_after: null,
        },
      ],
    }
    await tx.webhooks.insert(webhook)
    await noteChange(call, webhook.id, 'webhook.created')
    return { ...toWireWebhook(webhook), secret }
  },
})
