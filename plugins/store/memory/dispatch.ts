import type { AttemptResult, WebhookHealth } from '../../../lib/delivery/health.ts'
import { afterAttempt, isCounted } from '../../../lib/delivery/health.ts'
import { isRepeat, isFinal } from '../../../lib/delivery/state.ts'
import { MOVES } from '../../../lib/delivery/transition.ts'
import type {
  Claim,
  ClaimedDelivery,
  DeliveryRecord,
  FailedWebhook,
  DeliveryClaim,
  QueueHead,
  SettledAttempt,
} from '../../../lib/engine/ports.ts'
import type { Instant } from '../../../lib/time.ts'
import { move } from './deliveries.ts'
import type { State } from './state.ts'
import { change, keyOf } from './state.ts'

const isRetry = ({ trigger }: DeliveryRecord): boolean => isRepeat(trigger)
const dueOf = ({ next_at }: DeliveryRecord): Instant => next_at ?? Infinity

/** First attempts before retries, then by due time, then by the time-ordered id. */
function inTurn(a: DeliveryRecord, b: DeliveryRecord): number {
  return Number(isRetry(a)) - Number(isRetry(b)) || dueOf(a) - dueOf(b) || (a.id < b.id ? -1 : 1)
}

export function recover(state: State, now: Instant, claimant: string): number {
  const moved = [...state.deliveries.values()].filter(
    (one) =>
      one.claim?.startsWith(`${claimant}.`) !== true &&
      move(state, one, { type: 'lease_ended' }, now),
  )
  return moved.length
}

export function queueHeads(state: State, webhookIds: readonly string[] | undefined): QueueHead[] {
  const live = [...state.deliveries.values()].filter(({ status }) => !isFinal(status))
  const named = webhookIds ?? [...new Set(live.map(({ webhook_id }) => webhook_id))]
  return named.flatMap((webhook_id) => {
    const own = live.filter((one) => one.webhook_id === webhook_id)
    const earliest = (retry: boolean): Instant | null => {
      const due = Math.min(...own.filter((one) => isRetry(one) === retry).map(dueOf))
      return due === Infinity ? null : due
    }
    const heads = { first_due: earliest(false), retry_due: earliest(true) }
    return own.slice(0, 1).map(({ account_id }) => ({ webhook_id, account_id, ...heads }))
  })
}

export function claim(state: State, wanted: Claim, claimant: string): readonly ClaimedDelivery[] {
  const { now, lease_until, renews, token } = wanted
  if (renews) renew(state, claimant, lease_until)
  const due = [...state.deliveries.values()]
    .filter((one) => MOVES.claimed.includes(one.status) && dueOf(one) <= now)
    .sort(inTurn)
  const picked = wanted.queues.flatMap(({ webhook_id, limit }) =>
    due.filter((one) => one.webhook_id === webhook_id).slice(0, limit),
  )
  return picked.flatMap((one) => {
    move(state, one, { type: 'claimed', lease_until }, now, token)
    const delivery = state.deliveries.get(one.id)
    const event = state.events.get(keyOf(one.account_id, one.event_id))
    if (delivery === undefined || event === undefined) return []
    const { body, traceparent } = event
    return [traceparent === undefined ? { delivery, body } : { delivery, body, traceparent }]
  })
}

function renew(state: State, claimant: string, lease_until: Instant): void {
  for (const [id, one] of state.deliveries) {
    const isOwn = one.status === 'delivering' && one.claim?.startsWith(`${claimant}.`) === true
    if (isOwn) change(state.deliveries, id, { next_at: lease_until })
  }
}

function claimedBy(
  state: State,
  { delivery_id, claim: token }: DeliveryClaim,
): DeliveryRecord | undefined {
  const delivery = state.deliveries.get(delivery_id)
  return delivery?.status === 'delivering' && delivery.claim === token ? delivery : undefined
}

export function release(state: State, claims: readonly DeliveryClaim[], now: Instant): void {
  for (const held of claims) {
    const delivery = claimedBy(state, held)
    if (delivery === undefined) continue
    move(state, delivery, { type: 'lease_ended' }, now)
    const pending = state.deliveries.get(delivery.id)
    const webhook = state.webhooks.get(delivery.webhook_id)
    if (pending === undefined || webhook?.status === 'active') continue
    const type = webhook === undefined ? 'webhook_deleted' : 'webhook_disabled'
    move(state, pending, { type }, now)
  }
}

export function disclaim(state: State, { token }: Claim, now: Instant): void {
  const taken = [...state.deliveries.values()].filter((one) => one.claim === token)
  release(
    state,
    taken.map(({ id }) => ({ delivery_id: id, claim: token })),
    now,
  )
}

export function settle(state: State, attempts: readonly SettledAttempt[]): FailedWebhook[] {
  const failed = new Set<string>()
  for (const settled of attempts) {
    const delivery = claimedBy(state, settled)
    if (delivery === undefined) continue
    record(state, delivery, settled)
    const result = resultOf(settled)
    updateHealth(state, settled.webhook_id, result)
    if (isCounted(result) || result.verdict === 'gone') failed.add(settled.webhook_id)
  }
  return [...failed].flatMap((id) => {
    const webhook = state.webhooks.get(id)
    if (webhook?.status !== 'active') return []
    const { account_id, consecutive_failures, first_failure_at, failing_at } = webhook
    return [{ webhook_id: id, account_id, consecutive_failures, first_failure_at, failing_at }]
  })
}

function record(state: State, { id, webhook_id }: DeliveryRecord, settled: SettledAttempt): void {
  const { attempt, after, done_at } = settled
  const isEnded =
    after.status === 'pending' && state.webhooks.get(webhook_id)?.status === 'disabled'
  const at = attempt.started_at + attempt.duration
  const ended = {
    status: 'exhausted',
    next_at: null,
    done_at: at,
    end_reason: 'webhook_disabled',
  } as const
  change(state.deliveries, id, { ...after, done_at, claim: null, ...(isEnded ? ended : {}) })
  const earlier = state.attempts.get(id) ?? []
  state.attempts.set(id, Object.freeze([...earlier, Object.freeze({ ...attempt })]))
}

function resultOf({ verdict, attempt }: SettledAttempt): AttemptResult {
  return { verdict, trigger: attempt.trigger, at: attempt.started_at + attempt.duration }
}

function updateHealth(state: State, webhookId: string, result: AttemptResult): void {
  const webhook = state.webhooks.get(webhookId)
  if (webhook === undefined) return
  const { at: last_delivery_at, verdict } = result
  change(state.webhooks, webhookId, {
    ...afterAttempt(webhookHealth(webhook), result),
    last_success_at: verdict === 'succeeded' ? last_delivery_at : webhook.last_success_at,
    last_delivery_at,
  })
}

function webhookHealth(webhook: WebhookHealth): WebhookHealth {
  const { consecutive_failures, first_failure_at, failing_at } = webhook
  return { consecutive_failures, first_failure_at, failing_at }
}
