import { judgeResult } from '../delivery/outcome.ts'
import type { RetrySchedule } from '../delivery/schedule.ts'
import { isFinal } from '../delivery/state.ts'
import { transition } from '../delivery/transition.ts'
import type { Instant, Millis } from '../time.ts'
import { SECOND } from '../time.ts'
import type { BrandNames } from '../webhook/headers.ts'
import { deliveryHeaders } from '../webhook/headers.ts'
import type { Clock, DeliveryRecord, Sender, SettledAttempt } from './ports.ts'
import type { Tracing } from './tracing.ts'
import type { DecryptedSecret, Target } from './targets.ts'
import { liveSecrets } from './targets.ts'

/** A finished attempt that is not recorded yet. */
export interface FinishedAttempt extends SettledAttempt {
  readonly account_id: string
  readonly created_at: Instant
  readonly lease_until: Instant | null
  /** The address that it was sent to. */
  readonly url: string
}

export interface AttemptOptions {
  readonly sender: Sender
  readonly clock: Clock
  readonly names: BrandNames
  readonly schedule: RetrySchedule
  readonly timeout: Millis
  /** Uniform in [0, 1), for jitter. */
  readonly chance: () => number
  readonly tracing?: Tracing | undefined
}

/** Maximum bytes of a response body that are stored. */
const MAX_RESPONSE_BYTES = 4096

export type MakeAttempt = (
  delivery: DeliveryRecord,
  claim: string,
  body: Uint8Array,
  target: Target & { readonly secrets: readonly DecryptedSecret[] },
  /** The context that is stored with the event. */
  traceparent?: string,
) => Promise<FinishedAttempt>

/** Creates a function that makes one attempt: it signs, sends, judges the response and computes the next state. */
export function createAttempt(options: AttemptOptions): MakeAttempt {
  const { sender, clock, names, schedule, timeout, chance, tracing } = options
  if (tracing === undefined) return attempt
  return (delivery, claim, body, target, traceparent) =>
    tracing.attempt(delivery, traceparent, (own) => attempt(delivery, claim, body, target, own))

  async function attempt(
    ...[delivery, claim, body, target, traceparent]: Parameters<MakeAttempt>
  ): Promise<FinishedAttempt> {
    const started = clock.now()
    const result = await sender.send({
      url: target.webhook.url,
      method: 'POST',
      headers: deliveryHeaders(names, {
        eventType: delivery.event_type,
        eventId: delivery.event_id,
        deliveryId: delivery.id,
        timestampSeconds: Math.floor(started / SECOND),
        body,
        secrets: liveSecrets(target.secrets, started),
        standardHeaders: target.webhook.standard_headers,
        custom: target.headers,
        traceparent: target.webhook.trace_headers ? traceparent : undefined,
      }),
      body,
      timeout,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      delivery,
    })
    const now = clock.now()
    const outcome = judgeResult(result, now)
    const { verdict, retryAfter } = outcome
    const fact = {
      type: 'attempted',
      verdict,
      retryAfter,
      chance: verdict === 'failed' ? chance() : 0,
    } as const
    const after = transition(delivery, fact, now, schedule)
    return {
      delivery_id: delivery.id,
      webhook_id: delivery.webhook_id,
      account_id: delivery.account_id,
      created_at: delivery.created_at,
      lease_until: delivery.next_at,
      url: target.webhook.url,
      claim,
      verdict,
      after: {
        status: after.status,
        attempts: after.attempts,
        automatic: after.automatic,
        trigger: after.trigger,
        next_at: after.next_at,
        end_reason: after.end_reason,
      },
      done_at: isFinal(after.status) ? now : null,
      attempt: {
        number: after.attempts,
        trigger: delivery.trigger,
        started_at: started,
        duration: outcome.duration,
        status_code: outcome.status_code,
        error: outcome.error,
        ...(outcome.error_reason !== undefined && { error_reason: outcome.error_reason }),
        response: outcome.response,
      },
    }
  }
}
