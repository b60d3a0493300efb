import { isFinal } from '../../../lib/delivery/state.ts'
import { uuid7Floor } from '../../../lib/internal/uuid7.ts'
import type { DeliveryFact } from '../../../lib/delivery/transition.ts'
import { MOVES, transition } from '../../../lib/delivery/transition.ts'
import type { DeliveryRecord } from '../../../lib/engine/ports.ts'
import type { Instant } from '../../../lib/time.ts'
import { HOUR } from '../../../lib/time.ts'
import type {
  DeliveryReads,
  DeliveryWrites,
  FailedStep,
  InspectedDelivery,
  Step,
} from '../contract/deliveries.ts'
import { FAILED_STATUSES, MOST_ATTEMPTS } from '../contract/deliveries.ts'
import { MOST_LOOKED_AT } from '../contract/page.ts'
import type { Reading, State } from './state.ts'
import { add, endPage, searchPage } from './state.ts'

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
    async list(query, most = MOST_LOOKED_AT) {
      const { account_id, webhook_id, status, event_type, event_id, apps } = query
      const ofStatus = status !== null && FAILED_STATUSES.includes(status) ? isFailed : () => true
      const page = searchPage(
        ofWebhook(account_id, webhook_id).filter(ofStatus),
        query,
        (delivery) =>
          (status === null || delivery.status === status) &&
          (event_type === null || delivery.event_type === event_type) &&
          (event_id === null || delivery.event_id === event_id) &&
          (apps === null || (delivery.app_id !== null && apps.includes(delivery.app_id))),
        most,
      )
      const inspected = { ...page, rows: page.rows.map(inspect) }
      return endPage(inspected, query.bytes, ({ attempts }) =>
        attempts.reduce((sum, { response }) => sum + Buffer.byteLength(response ?? ''), 0),
      )
    },
    async countFailed(query, most = MOST_LOOKED_AT) {
      const { found, next } = failed(state(), query, most)
      return { count: found.length, next }
    },
    hasUnfinishedBeyond: async (webhookId, { types, apps }) =>
      [...state().deliveries.values()]
        .filter(({ webhook_id, done_at }) => webhook_id === webhookId && done_at === null)
        .some(
          ({ event_type, app_id }) =>
            types?.includes(event_type) === false || apps?.includes(app_id ?? '') === false,
        ),
    async ofEvents(webhookId, events, after, most = MOST_LOOKED_AT) {
      const made = events.map(({ created_at }) => created_at)
      const start = uuid7Floor(Math.min(...made))
      const looked = [...state().deliveries.values()]
        .filter(({ webhook_id }) => webhook_id === webhookId)
        .filter(({ id }) => (after === null ? id >= start : id > after))
        .filter(({ id }) => id < uuid7Floor(Math.max(...made) + HOUR))
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, most)
      const ids = new Set(events.map(({ id }) => id))
      const deliveries = looked.filter(({ event_id }) => ids.has(event_id))
      return { deliveries, next: looked[most - 1]?.id ?? null }
    },
  }
}

function isFailed({ status }: DeliveryRecord): boolean {
  return FAILED_STATUSES.includes(status)
}

/** Those asked for among the next `most` failed deliveries. */
function failed(
  state: State,
  { account_id, webhook_id, since, until, apps, types, after }: FailedStep,
  most: number,
): Step & { readonly found: readonly DeliveryRecord[] } {
  const looked = [...state.deliveries.values()]
    .filter((one) => one.account_id === account_id && one.webhook_id === webhook_id)
    .filter(({ id }) => id >= uuid7Floor(since) && id < uuid7Floor(until))
    .filter((one) => isFailed(one) && (after === null || one.id > after))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .slice(0, most)
  const found = looked
    .filter(({ attempts }) => attempts < MOST_ATTEMPTS)
    .filter(({ app_id }) => apps === null || (app_id !== null && apps.includes(app_id)))
    .filter(({ event_type }) => types?.includes(event_type) ?? true)
  return { found, next: looked[most - 1]?.id ?? null }
}

export function deliveryWrites(state: State): DeliveryWrites {
  return {
    ...deliveryReads(() => state),
    async requestRetry(id, now) {
      const delivery = state.deliveries.get(id)
      if (delivery === undefined || delivery.attempts >= MOST_ATTEMPTS) return false
      return move(state, delivery, { type: 'retry_requested' }, now)
    },
    async requestRetries({ limit, ...query }, now, most = MOST_LOOKED_AT) {
      const { found, next } = failed(state, query, most)
      const asked = found.slice(0, limit)
      for (const one of asked) move(state, one, { type: 'retry_requested', trigger: 'replay' }, now)
      const ids = asked.map(({ id }) => id)
      return { ids, next: ids[limit - 1] ?? next }
    },
    async insertReplayed(deliveries) {
      const fresh = deliveries.filter(({ id }) => !state.deliveries.has(id))
      for (const delivery of fresh) add(state.deliveries, delivery.id, delivery)
      return fresh.length
    },
  }
}
