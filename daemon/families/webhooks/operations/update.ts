import type { z } from 'zod'
import { encryptHeaders } from '../../../../lib/engine/targets.ts'
import type { WebhookRecord } from '../../../../lib/webhook/record.ts'
import type { WebhookChanges } from '../../../../plugins/store/contract/webhooks.ts'
import { requireApps } from '../../../authority/app-directory.ts'
import { requireReceivable } from '../../../events/authority.ts'
import { operation } from '../../../operations/operation.ts'
import type { Platform } from '../../../platform.ts'
import { creatorOf } from '../../../authority/principal.ts'
import { findWebhook, grantApps, judgeHeaders, noteChange, requireKnownTypes } from '../service.ts'
import { isSameReceiver, judgeAddress, requireHeadersAllowed } from '../address.ts'
import { changedTarget, requireRedirect } from '../redirect.ts'
import {
  exampleWebhook,
  toWireWebhook,
  webhookChanges,
  webhookParams,
  webhookRecord,
} from '../schema.ts'
import { UNMATCHED_FAMILIES } from '../unmatched.ts'

export const updateWebhook = operation({
  effect: 'write',
  id: 'webhooks.update',
  summary: 'Change a webhook, disable it, or enable it again',
  method: 'PATCH',
  path: '/v1/webhooks/{webhook_id}',
  access: { scope: 'webhooks:write', pinned: 'allowed', portal: true },
  agent: { toolset: 'webhooks' },
  emits: ['webhooks'],
  input: { params: webhookParams, body: webhookChanges },
  output: webhookRecord,
  errors: [
    'webhook_not_found',
    'invalid_url',
    'url_not_public',
    'unknown_destination',
    'unknown_event_type',
    'previous_value_restricted',
    'step_up_required',
    'scope_not_delegable',
    'app_not_found',
  ],
  example: {
    params: { webhook_id: exampleWebhook.id },
    body: { description: 'Tells the chat' },
    response: exampleWebhook,
  },
  command: 'webhook update',
  warning: UNMATCHED_FAMILIES,
  /** An invisible webhook is not found, before its changes are checked. */
  async prepare({ platform, principal, params, body }) {
    const { store } = platform
    const { account_id, events } = await findWebhook(store.webhooks, principal, params.webhook_id)
    if (body.apps !== undefined) grantApps(principal, body.apps)
    judgeHeaders(platform, body.headers)
    if (body.events !== undefined) {
      const added = body.events.filter((one) => !events.includes(one))
      requireReceivable(platform, principal.authority, added)
      await requireKnownTypes(platform, account_id, body.events)
    }
    return body.url === undefined ? undefined : judgeAddress(platform, account_id, body.url)
  },
  async run(call) {
    const { platform, principal, tx, params, body, prepared: url, now } = call
    const webhook = await findWebhook(tx.webhooks, principal, params.webhook_id)
    await requireApps(call, webhook.account_id, body.apps)
    const target = changedTarget(webhook, { ...body, url })
    const enables = body.status === 'active' && webhook.status === 'disabled'
    await requireRedirect(call, webhook, target, enables)
    requireHeadersAllowed(url ?? webhook.url, body.headers)
    const headers = headersOf(platform, webhook, body.headers, url)
    const changes = { ...changesOf(body), ...target, ...headers }
    if (Object.keys(changes).length > 0) {
      await tx.webhooks.update(webhook.id, changes, creatorOf(principal), now)
    }
    // Failures of the previous address do not count for a new one; a disabled webhook must still be
    // enabled.
    const moved = target.url !== undefined && webhook.status === 'active'
    if (body.status === 'disabled') await tx.disableWebhook(webhook.id, 'manual', now)
    else if (body.status === 'active' || moved) await tx.webhooks.enable(webhook.id, now)
    const updated = await findWebhook(tx.webhooks, principal, webhook.id)
    await noteChange(call, updated, 'webhook.updated')
    return toWireWebhook(updated)
  },
})

/** Changes besides the target. */
function changesOf({
  description,
  standard_headers,
  trace_headers,
  rate_limit,
  concurrency,
}: z.output<typeof webhookChanges>): WebhookChanges {
  return {
    ...(description === undefined ? {} : { description }),
    ...(standard_headers === undefined ? {} : { standard_headers }),
    ...(trace_headers === undefined ? {} : { trace_headers }),
    ...(rate_limit === undefined ? {} : { rate_limit }),
    ...(concurrency === undefined ? {} : { concurrency }),
  }
}

/**
 * Headers may hold credentials for the receiver: a caller that may not read them must not have them sent to
 * another origin.
 */
function headersOf(
  { keyring }: Platform,
  webhook: WebhookRecord,
  given: Readonly<Record<string, string>> | null | undefined,
  url: string | undefined,
): Pick<WebhookChanges, 'headers'> {
  if (given !== undefined) return { headers: encryptHeaders(webhook.id, given ?? {}, keyring) }
  const moved = url !== undefined && !isSameReceiver(url, webhook)
  return moved ? { headers: null } : {}
}
