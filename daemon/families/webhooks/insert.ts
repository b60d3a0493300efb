import { HEALTHY } from '../../../lib/delivery/health.ts'
import { encryptHeaders } from '../../../lib/engine/targets.ts'
import { createdOrigin } from '../../../lib/webhook/origin.ts'
import type { WebhookRecord } from '../../../lib/webhook/record.ts'
import { accountOf, creatorOf } from '../../authority/principal.ts'
import type { Change } from '../audit/note.ts'
import { webhookError } from './errors.ts'
import { createSecret, noteChange } from './service.ts'

/** Maximum webhooks of an account, disabled ones included. */
export const MAX_WEBHOOKS = 50

const ENABLED = { disabled_reason: null, disabled_at: null } as const

/** What its creator decides of a webhook; the address and the headers were judged. */
export type NewWebhook = Pick<
  WebhookRecord,
  | 'url'
  | 'events'
  | 'apps'
  | 'description'
  | 'standard_headers'
  | 'trace_headers'
  | 'rate_limit'
  | 'concurrency'
  | 'status'
> & { readonly headers: Readonly<Record<string, string>> }

/**
 * Inserts a webhook, and returns its signing secret.
 *
 * @throws KeyhookError `webhook_limit_reached`
 */
export async function insertWebhook(
  call: Change,
  given: NewWebhook,
): Promise<{ readonly webhook: WebhookRecord; readonly secret: string }> {
  const { platform, principal, tx, now } = call
  const account_id = accountOf(principal)
  const held = await tx.webhooksOf(account_id)
  if (held.length >= MAX_WEBHOOKS) throw webhookError('webhook_limit_reached')
  const id = platform.newId()
  const { value, secret } = createSecret(platform, now)
  const webhook: WebhookRecord = {
    ...HEALTHY,
    ...given,
    id,
    account_id,
    ...(given.status === 'active' ? ENABLED : { disabled_reason: 'manual', disabled_at: now }),
    headers: encryptHeaders(id, given.headers, platform.keyring),
    last_success_at: null,
    last_delivery_at: null,
    created_by: creatorOf(principal),
    created_at: now,
    updated_at: now,
    ...createdOrigin(creatorOf(principal), now),
    secrets: [secret],
  }
  await tx.webhooks.insert(webhook)
  await noteChange(call, webhook, 'webhook.created')
  return { webhook, secret: value }
}
