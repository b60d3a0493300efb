import type { FailedQuery } from '../../../../plugins/store/contract/deliveries.ts'
import { receivableTypes, requireReceivable } from '../../../event-authority.ts'
import type { Call } from '../../../family.ts'
import { ownOperation } from '../../../family.ts'
import { pinsOf } from '../../../principal.ts'
import { noteAgain, replayTurn, requireActive, spanOf } from '../again.ts'
import { exampleWebhook, retryFailedBody, sentAgain, webhookParams } from '../schema.ts'
import { findWebhook } from '../service.ts'

/** Deliveries that one commit makes due, so that publishing waits for a short one at most. */
const CHUNK = 1000

export const retryFailed = ownOperation({
  id: 'webhooks.retry_failed',
  summary: 'Send what failed or was skipped between two instants once more: recovers an outage',
  method: 'POST',
  path: '/v1/webhooks/{webhook_id}/retry-failed',
  access: { scope: 'webhooks:write', pinned: 'allowed' },
  emits: ['webhooks'],
  input: { params: webhookParams, body: retryFailedBody },
  output: sentAgain,
  status: 202,
  errors: ['webhook_not_found', 'webhook_disabled'],
  example: {
    params: { webhook_id: exampleWebhook.id },
    body: { since: '2026-01-31T09:00:00Z', until: '2026-01-31T12:00:00Z' },
    response: { webhook_id: exampleWebhook.id, queued: 1204, dry_run: false },
  },
  command: 'webhook retry-failed',
  async run(call) {
    const { platform, principal, params, body, now } = call
    const { store } = platform
    const webhook = await findWebhook(store.webhooks, principal, params.webhook_id)
    const { authority } = principal
    requireReceivable(platform, authority, webhook.events)
    const query: FailedQuery = {
      ...spanOf(body, now),
      account_id: webhook.account_id,
      webhook_id: webhook.id,
      apps: pinsOf(principal),
      // It may have failed events of types that it subscribed to before.
      types: await receivableTypes(platform, authority, webhook.account_id),
    }
    const dry_run = body.dry_run === true
    return platform.replays(replayTurn(call), async () => {
      const queued = dry_run ? await store.deliveries.countFailed(query) : await queue(call, query)
      return { webhook_id: webhook.id, queued, dry_run }
    })
  },
})

/** Chunk by chunk: should this end in the middle, asking again goes on with the rest. */
async function queue(call: Call, query: FailedQuery): Promise<number> {
  let queued = 0
  let after: string | null = null
  for (let full = true; full;) {
    const ids: readonly string[] = await retryChunk(call, query, after)
    queued += ids.length
    after = ids.at(-1) ?? null
    full = ids.length === CHUNK
  }
  return queued
}

async function retryChunk(
  call: Call,
  query: FailedQuery,
  after: string | null,
): Promise<readonly string[]> {
  const { platform, principal } = call
  return platform.store.write(async (tx) => {
    const webhook = await findWebhook(tx.webhooks, principal, query.webhook_id)
    requireActive(webhook)
    const now = platform.clock.now()
    const ids = await tx.deliveries.requestRetries({ ...query, after, limit: CHUNK }, now)
    if (ids.length > 0) await noteAgain({ ...call, tx, now }, webhook, 'webhook.failed_retried')
    return ids
  })
}
