import { isFinal } from '../../../lib/delivery/state.ts'
import type { DeliveryFact } from '../../../lib/delivery/transition.ts'
import { MOVES, transition } from '../../../lib/delivery/transition.ts'
import type { DeliveryRecord } from '../../../lib/engine/ports.ts'
import type { Instant } from '../../../lib/time.ts'
import type { DeliveryReads, DeliveryWrites, InspectedDelivery } from '../contract/deliveries.ts'
import type { Reading, State } from './state.ts'
import { pageOf } from './state.ts'

/** Moves a delivery as the law of transitions says. False where the fact does not apply. */
export function move(
  state: State,
  delivery: DeliveryRecord,
  fact: Exclude<DeliveryFact, { type: 'attempted' }>,
  now: Instant,
  claim: string | null = null,
): boolean {
  if (!MOVES[fact.type].includes(delivery.status)) return false
  const after = transition(delivery, fact, now, [])
  const done_at = isFinal(after.status) ? now : null
  state.deliveries.set(delivery.id, Object.freeze({ ...delivery, ...after, done_at, claim }))
  return true
}

export function deliveryReads(state: Reading): DeliveryReads {
  const inspect = (delivery: DeliveryRecord): InspectedDelivery => ({
    delivery,
    attempts: state().attempts.get(delivery.id) ?? [],
  })
  const ofWebhook = (accountId: string, webhookId: string): readonly DeliveryRecord[] =>
    [...state().deliveries.values()].filter(
      ({ account_id, webhook_id }) => account_id === accountId && webhook_id === webhookId,
    )
  return {
    async get(accountId, webhookId, id) {
      const found = ofWebhook(accountId, webhookId).find((delivery) => delivery.id === id)
      return found && inspect(found)
    },
    async list({ account_id, webhook_id, status, event_type, event_id, apps, ...query }) {
      const wanted = ofWebhook(account_id, webhook_id)
        .filter((delivery) => status === null || delivery.status === status)
        .filter((delivery) => event_type === null || delivery.event_type === event_type)
        .filter((delivery) => event_id === null || delivery.event_id === event_id)
        .filter(({ app_id }) => apps === null || (app_id !== null && apps.includes(app_id)))
      const page = pageOf(wanted, query)
      return { rows: page.rows.map(inspect), more: page.more }
    },
  }
}

export function deliveryWrites(state: State): DeliveryWrites {
  return {
    ...deliveryReads(() => state),
    async requestRetry(id, now) {
      const delivery = state.deliveries.get(id)
      return delivery !== undefined && move(state, delivery, { type: 'retry_requested' }, now)
    },
  }
}
