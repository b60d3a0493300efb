import type { Instant } from '../time.ts'
import { matches } from '../webhook/match.ts'
import type { WebhookRecord } from '../webhook/record.ts'
import type { Clock, DeliveryRecord, EngineTx, NewEvent, PublishOutcome } from './ports.ts'
import type { Signal } from './signal.ts'

/** Pending work that was committed. */
export interface Woken {
  readonly webhook_id: string
  readonly account_id: string
  readonly due: Instant
}

/** A new delivery: pending, or skipped when its webhook is disabled, so that nothing vanishes. */
export function bear(
  id: string,
  event: NewEvent,
  webhook: WebhookRecord,
  now: Instant,
): DeliveryRecord {
  const active = webhook.status === 'active'
  return {
    id,
    account_id: event.account_id,
    webhook_id: webhook.id,
    event_id: event.id,
    event_type: event.type,
    app_id: event.app_id,
    status: active ? 'pending' : 'skipped',
    attempts: 0,
    automatic: 0,
    trigger: 'event',
    next_at: active ? now : null,
    created_at: now,
    done_at: active ? null : now,
    claim: null,
  }
}

/** Publishes inside a unit of work: it commits and rolls back with it. */
export type PublishIn = (tx: EngineTx, event: NewEvent) => Promise<PublishOutcome>

export function createPublishIn(options: {
  readonly clock: Clock
  readonly newId: () => string
  readonly woken: Signal<Woken>
}): PublishIn {
  const { clock, newId, woken } = options
  return async (tx, event) => {
    const now = clock.now()
    const webhooks = await tx.webhooksOf(event.account_id)
    const deliveries = webhooks
      .filter((webhook) => matches(webhook, event))
      .map((webhook) => bear(newId(), event, webhook, now))
    const [outcome = 'stored'] = await tx.insertPublished([{ event, deliveries }])
    if (outcome !== 'stored') return outcome
    tx.afterCommit(() => {
      for (const { status, webhook_id, account_id } of deliveries) {
        if (status === 'pending') woken.emit({ webhook_id, account_id, due: now })
      }
    })
    return outcome
  }
}
