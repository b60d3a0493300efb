import { z } from 'zod'
import { requiredScope } from '../../../lib/scope/cover.ts'
import type { WebhookRecord } from '../../../lib/webhook/record.ts'
import { requireScope } from '../../authority/principal.ts'
import type { Change } from '../audit/note.ts'
import { audit, originsOf } from '../audit/note.ts'

/** Maximum ids in one response. */
export const LISTED = 100

/** Fields of responses that name webhooks of a key. */
export const keyWebhooks = {
  webhooks: z.array(z.string()).max(LISTED),
  webhooks_total: z.int().meta({ description: 'Total number; the first 100 are listed.' }),
}

export const webhooksChoice = z.enum(['keep', 'disable']).optional().meta({
  description:
    'disable: disable all of these webhooks in the same step; a key needs webhooks:write. Default keep.',
})

/** Lists webhooks in a response. */
export function listWebhooks(webhooks: readonly Pick<WebhookRecord, 'id'>[]): {
  readonly webhooks: string[]
  readonly webhooks_total: number
} {
  return {
    webhooks: webhooks.slice(0, LISTED).map(({ id }) => id),
    webhooks_total: webhooks.length,
  }
}

/**
 * Disables webhooks, and records each that was active in the audit log.
 *
 * @throws KeyhookError `insufficient_scope`: authority over a key, even itself, is not authority over
 *   webhooks
 */
export async function disableWebhooks(
  call: Change,
  webhooks: readonly WebhookRecord[],
  reason: 'key_revoked' | 'key_narrowed',
): Promise<void> {
  requireScope(call.principal.authority, requiredScope('webhooks:write', call.platform.universe))
  for (const webhook of webhooks) {
    if (!(await call.tx.disableWebhook(webhook.id, reason, call.now))) continue
    await audit(call, {
      account_id: webhook.account_id,
      action: 'webhook.disabled',
      target_type: 'webhook',
      target_id: webhook.id,
      origins: originsOf(webhook),
    })
  }
}
