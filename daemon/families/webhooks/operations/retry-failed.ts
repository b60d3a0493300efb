import type {
  FailedQuery,
  FailedStep,
  Step,
} from '../../../../plugins/store/contract/deliveries.ts'
import { receivableTypes, requireReceivable } from '../../../events/authority.ts'
import type { OwnCall } from '../../../operations/call.ts'
import { operation } from '../../../operations/operation.ts'
import { pinsOf } from '../../../authority/principal.ts'
import { giveWay } from '../../../queues/steps.ts'
import {
  noteAgain,
  replayTurn,
  requireActive,
  requireAsking,
  spanOf,
  unitOfReplay,
} from '../again.ts'
import { exampleWebhook, retryFailedBody, sentAgain, webhookParams } from '../schema.ts'
import { findWebhook } from '../service.ts'

/** Deliveries per commit, so that publishing waits for a short one at most. */
const CHUNK = 1000

export const retryFailed = operation({
  effect: 'own',
  id: 'webhooks.retry_failed',
  summary: 'Retry failed and skipped deliveries between two instants, after an outage',
  method: 'POST',
  path: '/v1/webhooks/{webhook_id}/retry-failed',
  access: { scope: 'webhooks:write', pinned: 'allowed', portal: true },
  agent: { toolset: 'webhooks' },
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
      // It may have failed events of types that it no longer subscribes to.
      types: await receivableTypes(platform, authority, webhook.account_id),
    }
    const dry_run = body.dry_run === true
    const turn = replayTurn(call)
    return platform.queues.replays(turn, async () => {
      let queued = 0
      let after: string | null = null
      do {
        if (dry_run) await requireAsking(call, turn)
        const step: Retried = dry_run
          ? await store.deliveries.countFailed({ ...query, after })
          : await retryChunk(call, { ...query, after })
        queued += step.count
        after = step.next
        await giveWay()
      } while (after !== null)
      return { webhook_id: webhook.id, queued, dry_run }
    })
  },
})

interface Retried extends Step {
  readonly count: number
}

/** After an interruption, a repeated request continues with the rest. */
async function retryChunk(call: OwnCall, query: FailedStep): Promise<Retried> {
  const { platform, principal } = call
  return unitOfReplay(call, async (tx) => {
    const webhook = await findWebhook(tx.webhooks, principal, query.webhook_id)
    requireActive(webhook)
    const now = platform.clock.now()
    const { ids, next } = await tx.deliveries.requestRetries({ ...query, limit: CHUNK }, now)
    if (ids.length > 0) await noteAgain({ ...call, tx, now }, webhook, 'webhook.failed_retried')
    return { count: ids.length, next }
  })
}
