import type { Instant } from '../time.ts'
import type { IsBuiltIn } from '../webhook/match.ts'
import { matches } from '../webhook/match.ts'
import type { WebhookRecord } from '../webhook/record.ts'
import type {
  Clock,
  DeliveryRecord,
  EngineEvents,
  EngineTx,
  EventRecord,
  NewEvent,
  PublishOutcome,
} from './ports.ts'
import type { Signal } from './signal.ts'
import type { Tracing } from './tracing.ts'
import { withContext } from './tracing.ts'

/** A notification that pending work of a webhook was committed. */
export interface WorkAvailable {
  readonly webhook_id: string
  readonly account_id: string
  readonly due: Instant
}

/** Creates a delivery: pending, or skipped when the webhook is disabled, so that it stays visible. */
export function createDelivery(
  id: string,
  event: EventRecord,
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
    end_reason: null,
    created_at: now,
    done_at: active ? null : now,
    claim: null,
  }
}

/**
 * Publishes events of one account inside a unit of work; they commit and roll back with it.
 *
 * @param except a webhook that gets no delivery, since the events are about itself
 */
export type PublishIn = (
  tx: EngineTx,
  events: readonly NewEvent[],
  except?: string,
) => Promise<readonly PublishOutcome[]>

export function createPublishIn(options: {
  readonly clock: Clock
  readonly newId: () => string
  readonly workAvailable: Signal<WorkAvailable>
  readonly isBuiltIn: IsBuiltIn
  readonly events?: Partial<EngineEvents>
  readonly tracing?: Tracing | undefined
}): PublishIn {
  const { clock, newId, workAvailable, isBuiltIn, tracing } = options
  return async (tx, given, except) => {
    // Another unit of work ends it: the span of the caller is that of the commit.
    const events = withContext(given, tracing?.current())
    const [first] = events
    if (first === undefined) return []
    const now = clock.now()
    const webhooks = (await tx.webhooksOf(first.account_id)).filter(({ id }) => id !== except)
    const group = events.map((event) => ({
      event,
      deliveries: webhooks
        .filter((webhook) => matches(webhook, event, isBuiltIn))
        .map((webhook) => createDelivery(newId(), event, webhook, now)),
    }))
    const outcomes = await tx.insertPublished(group)
    const stored = group.filter((_, index) => outcomes[index] === 'stored')
    tx.afterCommit(() => {
      if (stored.length > 0) options.events?.committed?.(stored.length)
      for (const { status, webhook_id, account_id } of stored.flatMap((one) => one.deliveries)) {
        if (status === 'pending') workAvailable.emit({ webhook_id, account_id, due: now })
      }
    })
    return outcomes
  }
}
