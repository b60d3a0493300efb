import { z } from 'zod'
import type { Attempt, AttemptErrorCode, AttemptTrigger } from '../../../lib/delivery/state.ts'
import { isFinal } from '../../../lib/delivery/state.ts'
import { toIso } from '../../../lib/time.ts'
import { DESTINATION_CAUSES, DESTINATION_ERRORS } from '../../../plugins/destinations/contract.ts'
import type { DestinationCause } from '../../../plugins/destinations/contract.ts'
import type { EgressCause } from '../../../plugins/egress/contract.ts'
import { EGRESS_CAUSES, EGRESS_ERRORS } from '../../../plugins/egress/contract.ts'
import type { InspectedDelivery } from '../../../plugins/store/contract/deliveries.ts'
import { instant, isoOrNull, pageOf, plainText } from '../wire.ts'
import { exampleWebhook } from './schema.ts'

export const deliveryParams = z.strictObject({ webhook_id: plainText, delivery_id: plainText })

export const deliveryStatus = z.enum([
  'pending',
  'delivering',
  'succeeded',
  'exhausted',
  'blocked',
  'skipped',
  'canceled',
])
const trigger = z.enum(['event', 'retry', 'manual', 'test', 'replay'])

const ATTEMPT_ERRORS: Readonly<Record<AttemptErrorCode, string>> = {
  ...EGRESS_ERRORS,
  destination: DESTINATION_ERRORS.destination,
  http_status: 'The receiver answered with a status other than 200 to 299.',
}

type Cause = EgressCause | DestinationCause

const CAUSE_TEXTS: Readonly<Record<Cause, string>> = { ...EGRESS_CAUSES, ...DESTINATION_CAUSES }

const CAUSES = Object.keys(CAUSE_TEXTS) as [Cause, ...Cause[]]

const failure = z
  .strictObject({
    code: z.enum(Object.keys(ATTEMPT_ERRORS) as [AttemptErrorCode, ...AttemptErrorCode[]]),
    reason: z
      .enum(CAUSES)
      .nullable()
      .meta({ description: 'Cause within the code; null if unknown.' }),
    message: z.string(),
  })
  .nullable()
const response = z
  .strictObject({
    status_code: z.int(),
    body: z.string().nullable().meta({
      description:
        'First 4 KiB of the body as text; null when empty or for a listed private target.',
    }),
  })
  .nullable()

export const deliveryRecord = z
  .strictObject({
    id: z.string(),
    delivery_id: z.string().meta({ description: 'Same as id, for all attempts.' }),
    webhook_id: z.string(),
    event_id: z.string(),
    event_type: z.string(),
    app_id: z.string().nullable(),
    status: deliveryStatus,
    trigger: trigger.meta({
      description:
        'Trigger of the last attempt, or of the first; manual or replay once one is queued.',
    }),
    end_reason: z.enum(['webhook_disabled']).nullable().meta({
      description:
        'webhook_disabled: exhausted or skipped because its webhook was disabled; else null.',
    }),
    attempt_count: z.int(),
    next_attempt_at: instant.nullable(),
    created_at: instant,
    delivered_at: instant.nullable().meta({ description: 'Time of the last successful attempt.' }),
    response: response.meta({
      description:
        'Response of the last attempt; null without one, and for other types than https.',
    }),
    error: failure.meta({ description: 'Error of the last attempt; null when it succeeded.' }),
    duration_ms: z.int().nullable(),
    attempts: z.array(
      z.strictObject({
        number: z.int(),
        trigger,
        started_at: instant,
        duration_ms: z.int(),
        response,
        error: failure,
      }),
    ),
  })
  .meta({ id: 'Delivery' })

export const deliveryPage = pageOf(deliveryRecord)

type WireDelivery = z.input<typeof deliveryRecord>

export function toWireDelivery({ delivery, attempts }: InspectedDelivery): WireDelivery {
  // Attempts are read after their delivery: an attempt that ended in between belongs to a later
  // state.
  const counted = attempts.filter((attempt) => attempt.number <= delivery.attempts)
  const made = counted.map(toWireAttempt)
  const last = made.at(-1)
  const success = counted.findLast(({ error }) => error === null)
  return {
    id: delivery.id,
    delivery_id: delivery.id,
    webhook_id: delivery.webhook_id,
    event_id: delivery.event_id,
    event_type: delivery.event_type,
    app_id: delivery.app_id,
    status: delivery.status,
    trigger: triggerOf(delivery, last),
    end_reason: delivery.status === 'skipped' ? 'webhook_disabled' : delivery.end_reason,
    attempt_count: delivery.attempts,
    // During an attempt the row holds the end of its lease, which is not a schedule.
    next_attempt_at: delivery.status === 'pending' ? isoOrNull(delivery.next_at) : null,
    created_at: toIso(delivery.created_at),
    delivered_at: success === undefined ? null : toIso(success.started_at + success.duration),
    response: last?.response ?? null,
    error: last?.error ?? null,
    duration_ms: last?.duration_ms ?? null,
    attempts: made,
  }
}

/** A requested retry has its trigger before the attempt; an automatic one only with it. */
function triggerOf(
  { status, trigger }: InspectedDelivery['delivery'],
  last: WireDelivery['attempts'][number] | undefined,
): AttemptTrigger {
  const isQueuedRetry = !isFinal(status) && trigger !== 'retry'
  return last === undefined || isQueuedRetry ? trigger : last.trigger
}

function toWireAttempt(attempt: Attempt): WireDelivery['attempts'][number] {
  const { status_code, error } = attempt
  return {
    number: attempt.number,
    trigger: attempt.trigger,
    started_at: toIso(attempt.started_at),
    duration_ms: Math.round(attempt.duration),
    response: status_code === null ? null : { status_code, body: attempt.response },
    error: error === null ? null : describeError(error, attempt.error_reason),
  }
}

/** An unknown cause is left out: a later version may have stored it. */
function describeError(
  code: AttemptErrorCode,
  cause: string | undefined,
): WireDelivery['attempts'][number]['error'] {
  const reason = CAUSES.find((one) => one === cause) ?? null
  return { code, reason, message: reason === null ? ATTEMPT_ERRORS[code] : CAUSE_TEXTS[reason] }
}

/** Shared by examples. */
export const exampleDelivery = {
  id: '01890a5d-ac96-774b-bcce-b302099a8061',
  delivery_id: '01890a5d-ac96-774b-bcce-b302099a8061',
  webhook_id: exampleWebhook.id,
  event_id: 'evt_01kg0b2cwr3v7m9q4t8x5z6n2d',
  event_type: 'app.deployed',
  app_id: 'a_3fJ9kQ2x',
  status: 'succeeded',
  trigger: 'event',
  end_reason: null,
  attempt_count: 1,
  next_attempt_at: null,
  created_at: '2026-01-31T12:00:00.000Z',
  delivered_at: '2026-01-31T12:00:00.042Z',
  response: { status_code: 200, body: 'ok' },
  error: null,
  duration_ms: 40,
  attempts: [
    {
      number: 1,
      trigger: 'event',
      started_at: '2026-01-31T12:00:00.002Z',
      duration_ms: 40,
      response: { status_code: 200, body: 'ok' },
      error: null,
    },
  ],
} as const
