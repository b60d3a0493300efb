import { createHash } from 'node:crypto'
import { createDelivery } from '../../../../lib/engine/enqueue.ts'
import type { DeliveryRecord, EventRecord } from '../../../../lib/engine/ports.ts'
import { uuid7Of } from '../../../../lib/internal/uuid7.ts'
import type { Instant } from '../../../../lib/time.ts'
import { matches, subscribesTo } from '../../../../lib/webhook/match.ts'
import type { WebhookRecord } from '../../../../lib/webhook/record.ts'
import type { EventListQuery, OrderedEvent } from '../../../../plugins/store/contract/events.ts'
import { httpError } from '../../../operations/errors.ts'
import { requireReceivable } from '../../../events/authority.ts'
import type { OwnCall } from '../../../operations/call.ts'
import { operation } from '../../../operations/operation.ts'
import type { Platform } from '../../../platform.ts'
import { giveWay } from '../../../queues/steps.ts'
import { webhookEvents } from '../events.ts'
import {
  noteAgain,
  replayTurn,
  requireActive,
  requireAsking,
  spanOf,
  unitOfReplay,
} from '../again.ts'
import { exampleWebhook, replayBody, sentAgain, webhookParams } from '../schema.ts'
import { findWebhook } from '../service.ts'

/** Events per commit. */
const CHUNK = 500

export const replayEvents = operation({
  effect: 'own',
  id: 'webhooks.replay',
  summary: 'Send past events to a webhook that has not received them',
  method: 'POST',
  path: '/v1/webhooks/{webhook_id}/replay',
  access: { scope: 'webhooks:write', pinned: 'allowed', portal: true },
  agent: { toolset: 'webhooks' },
  emits: ['webhooks'],
  input: { params: webhookParams, body: replayBody },
  output: sentAgain,
  status: 202,
  errors: ['webhook_not_found', 'webhook_disabled'],
  example: {
    params: { webhook_id: exampleWebhook.id },
    body: { since: '2026-01-01T00:00:00Z', types: ['app.deployed'], dry_run: true },
    response: { webhook_id: exampleWebhook.id, queued: 31, dry_run: true },
  },
  command: 'webhook replay',
  async run(call) {
    const { platform, principal, params, body, now } = call
    const webhook = await findWebhook(platform.store.webhooks, principal, params.webhook_id)
    requireActive(webhook)
    const dry_run = body.dry_run === true
    const requested = requestedTypes(platform, webhook, body.types)
    requireReceivable(platform, principal.authority, requested, body.types && 'body.types')
    const types = await typesOf(platform, webhook.account_id, requested)
    const span = { ...spanOf(body, now), types }
    const turn = replayTurn(call)
    return platform.queues.replays(turn, async () => {
      let queued = 0
      for await (const events of pastEvents(platform, webhook, span)) {
        if (dry_run) await requireAsking(call, turn)
        queued += dry_run ? events.length : await queue(call, webhook.id, events)
        await giveWay()
      }
      return { webhook_id: webhook.id, queued, dry_run }
    })
  },
})

/** Notices about webhooks are only of interest when they happen, and only to some webhooks. */
const NOTICES: ReadonlySet<string> = new Set(webhookEvents.types.map(({ type }) => type))

/**
 * @throws KeyhookError `invalid_request` for types that are not replayed to the webhook
 */
function requestedTypes(
  { eventTypes: { isBuiltIn } }: Platform,
  { events }: WebhookRecord,
  requested: readonly string[] = events.filter((type) => !NOTICES.has(type)),
): readonly string[] {
  const isReceived = (type: string): boolean =>
    events.some((subscription) => subscribesTo(subscription, type, isBuiltIn))
  const errors = requested.flatMap((type, index) =>
    isReceived(type) && !NOTICES.has(type)
      ? []
      : [
          {
            location: `body.types[${index}]`,
            code: 'not_named',
            message:
              'The webhook does not subscribe to this type, or it is a notice about webhooks.',
          },
        ],
  )
  if (errors.length > 0) throw httpError('invalid_request', { errors })
  return requested
}

/** The event types that subscriptions match now. */
async function typesOf(
  { eventTypes }: Platform,
  accountId: string,
  requested: readonly string[],
): Promise<readonly string[]> {
  const known = [...eventTypes.builtIn.keys(), ...(await eventTypes.declared(accountId))]
  const covered = known.filter((type) =>
    requested.some((subscription) => subscribesTo(subscription, type, eventTypes.isBuiltIn)),
  )
  return covered.filter((type) => !NOTICES.has(type))
}

/** The events of a span without a delivery to the webhook, oldest first, in chunks. */
async function* pastEvents(
  { store, eventTypes }: Platform,
  webhook: WebhookRecord,
  span: Pick<EventListQuery, 'since' | 'until' | 'types'>,
): AsyncGenerator<readonly OrderedEvent[]> {
  const { account_id, apps } = webhook
  const isWanted = (event: OrderedEvent) => matches(webhook, event, eventTypes.isBuiltIn)
  let after: EventListQuery['after'] = null
  for (let more = true; more;) {
    const query: EventListQuery = {
      ...span,
      account_id,
      apps,
      order: 'asc',
      bodies: false,
      after,
      limit: CHUNK,
    }
    const page = await store.events.list(query)
    const wanted = page.rows.filter(isWanted)
    const sent = await sentOf(store, webhook.id, wanted)
    yield wanted.filter(({ id }) => !sent.has(id))
    after = page.next ?? page.rows.at(-1)?.cursor ?? null
    more = page.more
  }
}

/** The ids of those events of which the webhook has a delivery. */
async function sentOf(
  { deliveries }: Pick<Platform['store'], 'deliveries'>,
  webhookId: string,
  events: readonly OrderedEvent[],
): Promise<ReadonlySet<string>> {
  const sent = new Set<string>()
  for (let after: string | null | undefined; sent.size < events.length && after !== null;) {
    const step = await deliveries.ofEvents(webhookId, events, after ?? null)
    for (const { event_id } of step.deliveries) sent.add(event_id)
    after = step.next
  }
  return sent
}

/** After an interruption, a repeated request continues with the missing events. */
async function queue(
  call: OwnCall,
  webhookId: string,
  events: readonly EventRecord[],
): Promise<number> {
  const { platform, principal } = call
  if (events.length === 0) return 0
  return unitOfReplay(call, async (tx) => {
    const webhook = await findWebhook(tx.webhooks, principal, webhookId)
    requireActive(webhook)
    const now = platform.clock.now()
    // Checked again: its types and apps may have changed since the events were read.
    const deliveries = events
      .filter((event) => matches(webhook, event, platform.eventTypes.isBuiltIn))
      .map((event) => createReplay(event, webhook, now))
    const queued = await tx.deliveries.insertReplayed(deliveries)
    await noteAgain({ ...call, tx, now }, webhook, 'webhook.replayed')
    return queued
  })
}

/** Its id is derived from event and webhook, so that of two replays one creates the delivery. */
function createReplay(event: EventRecord, webhook: WebhookRecord, now: Instant): DeliveryRecord {
  const bytes = createHash('sha256').update(`${webhook.id} ${event.id}`).digest()
  const id = uuid7Of(event.created_at, new Uint8Array(bytes))
  return { ...createDelivery(id, event, webhook, now), trigger: 'replay' }
}
