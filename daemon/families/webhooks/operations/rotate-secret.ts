import { DAY, SECOND } from '../../../../lib/time.ts'
import { operation } from '../../../operations/operation.ts'
import { creatorOf } from '../../../authority/principal.ts'
import { loadActor } from '../../keys/service.ts'
import { webhookError } from '../errors.ts'
import {
  createdWebhook,
  exampleWebhook,
  secretRotation,
  toWireWebhook,
  webhookParams,
} from '../schema.ts'
import { findWebhook, noteChange, createSecret } from '../service.ts'

/** Maximum live secrets: each adds a signature to every delivery. */
const MAX_LIVE_SECRETS = 5

export const rotateSecret = operation({
  effect: 'write',
  id: 'webhooks.rotate_secret',
  summary: 'Rotate the signing secret of a webhook; the old one also signs for a day',
  method: 'POST',
  path: '/v1/webhooks/{webhook_id}/rotate-secret',
  access: { scope: 'webhooks:write', pinned: 'allowed', portal: true },
  agent: { toolset: 'webhooks', destructive: true },
  emits: ['webhooks'],
  input: { params: webhookParams, body: secretRotation },
  output: createdWebhook,
  status: 201,
  errors: ['webhook_not_found', 'secret_limit_reached', 'previous_value_restricted'],
  example: {
    params: { webhook_id: exampleWebhook.id },
    body: { overlap_seconds: 3600 },
    response: {
      ...exampleWebhook,
      previous_secret_valid_until: '2026-01-31T13:00:00.000Z',
      secret: 'whsec_q83vEjRWeJq7zd7wEjRW…',
    },
  },
  secret: ['secret'],
  stepUp: true,
  command: 'webhook rotate-secret',
  async run(call) {
    const { platform, principal, tx, params, body, now } = call
    await loadActor(call)
    const webhook = await findWebhook(tx.webhooks, principal, params.webhook_id)
    const overlap = body?.overlap_seconds === undefined ? DAY : body.overlap_seconds * SECOND
    const live = webhook.secrets.filter(({ not_after }) => (not_after ?? Infinity) > now)
    if (overlap > 0 && live.length >= MAX_LIVE_SECRETS) throw webhookError('secret_limit_reached')

    const { value, secret } = createSecret(platform, now)
    const by = creatorOf(principal)
    await tx.webhooks.rotateSecret(webhook.id, secret, now + overlap, by, now)
    const rotated = await findWebhook(tx.webhooks, principal, webhook.id)
    await noteChange(call, rotated, 'webhook.secret_rotated')
    return { ...toWireWebhook(rotated), secret: value }
  },
})
