import { z } from 'zod'
import type { DeliveryRecord } from '../../../../lib/engine/ports.ts'
import type { OrderedEvent } from '../../../../plugins/store/contract/events.ts'
import type { WebhookRecord } from '../../../../lib/webhook/record.ts'
import { findPause } from '../../../sending/paused.ts'
import type { Platform } from '../../../platform.ts'
import { operation } from '../../../operations/operation.ts'
import { accountOf, pinsOf } from '../../../authority/principal.ts'
import { listPage } from '../../cursor.ts'
import { pageQuery, plainText } from '../../wire.ts'
import type { Facts } from '../explain.ts'
import { explain } from '../explain.ts'
import { exampleExplanation, explanationPage, toWireExplanation } from '../explain-schema.ts'
import { exampleEvent } from '../schema.ts'
import { findEvent } from './read.ts'

/** Reads of deliveries that one page makes: beyond it, its remaining webhooks are not examined. */
const MAX_STEPS = 200

export const explainEvent = operation({
  effect: 'read',
  id: 'events.explain',
  summary: 'Explain for each webhook why an event was or was not sent to it, and when it will be',
  method: 'GET',
  path: '/v1/events/{event_id}/explain',
  access: { scope: 'webhooks:read', pinned: 'allowed' },
  agent: { toolset: 'events' },
  emits: ['webhooks'],
  input: {
    params: z.strictObject({ event_id: plainText }),
    query: z.strictObject(pageQuery),
  },
  output: explanationPage,
  errors: ['event_not_found', 'invalid_cursor'],
  example: {
    params: { event_id: exampleEvent.id },
    response: { data: [exampleExplanation], has_more: false, next_cursor: null },
  },
  command: 'event explain',
  async run(call) {
    const { platform, principal, params } = call
    const event = await findEvent(platform, principal, params.event_id)
    const account_id = accountOf(principal)
    const within = pinsOf(principal)
    return listPage(call, {
      list: { list: 'explanations', account_id, event_id: event.id },
      async read(range) {
        const page = await platform.store.webhooks.list({
          account_id,
          status: null,
          within,
          ...range,
        })
        return { ...page, rows: await gather(platform, event, page.rows) }
      },
      cursorOf: ({ webhook }) => webhook.id,
      show: () => (facts: Facts) =>
        toWireExplanation(facts, explain(facts, platform.eventTypes.isBuiltIn)),
    })
  },
})

/** What is known of the event and each webhook. */
async function gather(
  platform: Platform,
  event: OrderedEvent,
  webhooks: readonly WebhookRecord[],
): Promise<readonly Facts[]> {
  const { store, engine, clock } = platform
  const sendingPaused = (await findPause(store)) !== undefined
  const facts: Facts[] = []
  let steps = 0
  for (const webhook of webhooks) {
    let found: DeliveryRecord | undefined
    let after: string | null | undefined
    for (; found === undefined && after !== null && steps < MAX_STEPS; steps++) {
      const step = await store.deliveries.ofEvents(webhook.id, [event], after ?? null)
      found = step.deliveries[0]
      after = step.next
    }
    facts.push({
      event,
      webhook,
      delivery: found,
      examined: found !== undefined || after === null,
      delays: engine.dispatcher.delaysOf(webhook.id),
      sendingPaused,
      now: clock.now(),
    })
  }
  return facts
}
