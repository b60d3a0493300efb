import type { SendDelays } from '../../../lib/engine/webhook-queues.ts'
import type { DeliveryRecord, EventRecord } from '../../../lib/engine/ports.ts'
import { memberSpan } from '../../../lib/internal/json-text.ts'
import type { Instant } from '../../../lib/time.ts'
import type { IsBuiltIn } from '../../../lib/webhook/match.ts'
import { subscribesTo } from '../../../lib/webhook/match.ts'
import type { WebhookRecord } from '../../../lib/webhook/record.ts'

/** Every reason, with its public sentence. A code never changes its meaning. */
export const REASONS = {
  type_not_selected: 'The webhook does not subscribe to the type of the event.',
  app_not_selected: 'The app filter of the webhook does not contain the app of the event.',
  created_after_event: 'The webhook was created after the event was published. A replay sends it.',
  changed_after_event:
    'The webhook matches now, but its url, events, apps or secret were set after the event was published. A replay sends it.',
  about_itself: 'The event is about this webhook itself.',
  not_recorded: 'No delivery is recorded: it was deleted, or was never made. A replay sends it.',
  not_examined:
    'Too many deliveries were made at that time to examine. List the deliveries of the webhook with event_id.',
  delivered: 'The receiver accepted it.',
  in_progress: 'An attempt is in progress.',
  retry_scheduled: 'An attempt failed, and the next one is scheduled.',
  queued: 'It is due and waits for its turn behind earlier deliveries.',
  rate_limit: 'The rate limit of the webhook delays it.',
  concurrency_limit: 'As many deliveries as the webhook may have at once are in progress.',
  paused: 'The last send could not be made, such as for a secret that cannot be decrypted.',
  sending_paused: 'Sending is paused for the whole service since a backup was restored.',
  attempts_exhausted: 'All attempts failed. A retry sends it again.',
  address_refused: 'The address of the webhook may not be sent to. Correct it and retry.',
  webhook_disabled: 'The webhook was disabled. Enable it and retry.',
  webhook_deleted: 'The webhook was deleted before it was sent.',
} as const

export type ReasonCode = keyof typeof REASONS

export const OUTCOMES = ['delivered', 'waiting', 'failed', 'not_sent', 'unknown'] as const

export type Outcome = (typeof OUTCOMES)[number]

export interface Explained {
  readonly outcome: Outcome
  readonly reasons: readonly { readonly code: ReasonCode; readonly until: Instant | null }[]
  /** When it is sent next; null when it is not, or is being sent. */
  readonly next_attempt_at: Instant | null
}

/** What is known of one event and one webhook. */
export interface Facts {
  readonly event: EventRecord
  readonly webhook: WebhookRecord
  readonly delivery: DeliveryRecord | undefined
  /** Whether all deliveries of the event's time were examined. */
  readonly examined: boolean
  /** Of this process; undefined when it knows of no work for the webhook. */
  readonly delays: SendDelays | undefined
  readonly sendingPaused: boolean
  readonly now: Instant
}

/** Why an event was or was not sent to a webhook. */
export function explain(facts: Facts, isBuiltIn: IsBuiltIn): Explained {
  const { delivery, examined } = facts
  if (delivery !== undefined) return EXPLAINED[delivery.status](facts, delivery)
  if (!examined) return told('unknown', 'not_examined')
  return told('not_sent', ...reasonsOfNone(facts, isBuiltIn))
}

function told(outcome: Outcome, ...codes: readonly ReasonCode[]): Explained {
  const reasons = codes.map((code) => ({ code, until: null }))
  return { outcome, reasons, next_attempt_at: null }
}

const EXPLAINED: Readonly<
  Record<DeliveryRecord['status'], (facts: Facts, delivery: DeliveryRecord) => Explained>
> = {
  succeeded: () => told('delivered', 'delivered'),
  delivering: () => told('waiting', 'in_progress'),
  pending: explainPending,
  exhausted: (_, { end_reason }) => told('failed', end_reason ?? 'attempts_exhausted'),
  blocked: () => told('failed', 'address_refused'),
  skipped: () => told('not_sent', 'webhook_disabled'),
  canceled: () => told('not_sent', 'webhook_deleted'),
}

/** Everything that delays it; the latest end is when it is sent. */
function explainPending(
  { delays, sendingPaused, now }: Facts,
  { next_at, trigger }: DeliveryRecord,
): Explained {
  const due = next_at ?? now
  const later = due > now
  const { paused_until = null, rate_limited_until = null } = delays ?? {}
  const found = [
    ['sending_paused', sendingPaused, null],
    ['retry_scheduled', later && trigger === 'retry', due],
    ['paused', paused_until !== null, paused_until],
    ['rate_limit', rate_limited_until !== null, rate_limited_until],
    [
      'concurrency_limit',
      !later && delays !== undefined && delays.busy >= delays.concurrency,
      null,
    ],
  ] as const
  const reasons = found.filter(([, applies]) => applies).map(([code, , until]) => ({ code, until }))
  const ends = reasons.map(({ until }) => until ?? 0)
  return {
    outcome: 'waiting',
    reasons: reasons.length > 0 ? reasons : [{ code: 'queued', until: null }],
    next_attempt_at: sendingPaused ? null : Math.max(due, ...ends),
  }
}

/** Reasons why there is no delivery, as far as the present settings of the webhook tell. */
function reasonsOfNone(
  { event, webhook }: Facts,
  isBuiltIn: IsBuiltIn,
): readonly [ReasonCode, ...ReasonCode[]] {
  const takesType = webhook.events.some((one) => subscribesTo(one, event.type, isBuiltIn))
  const takesApp =
    webhook.apps === null || (event.app_id !== null && webhook.apps.includes(event.app_id))
  const found: ReasonCode[] = []
  if (!takesType) found.push('type_not_selected')
  if (!takesApp) found.push('app_not_selected')
  if (webhook.created_at > event.created_at) found.push('created_after_event')
  const [first, ...others] = found
  if (first !== undefined) return [first, ...others]
  if (isAbout(event, webhook.id)) return ['about_itself']
  return [webhook.set_at > event.created_at ? 'changed_after_event' : 'not_recorded']
}

/** Events about a webhook are sent to the account's other webhooks alone. */
function isAbout({ type, body }: EventRecord, webhookId: string): boolean {
  if (!type.startsWith('webhook.')) return false
  const text = new TextDecoder().decode(body)
  const data = memberSpan(text, 0, 'data')
  const id = data && memberSpan(text, data.from, 'webhook_id')
  return id !== undefined && text.slice(id.from, id.to) === JSON.stringify(webhookId)
}
