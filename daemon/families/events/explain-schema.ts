import { z } from 'zod'
import { instant, isoOrNull, pageOf } from '../wire.ts'
import type { Explained, Facts, ReasonCode } from './explain.ts'
import { OUTCOMES, REASONS } from './explain.ts'

const reason = z.strictObject({
  code: z.enum(Object.keys(REASONS) as [ReasonCode, ...ReasonCode[]]),
  message: z.string(),
  until: instant.nullable().meta({ description: 'When it ends; null when that is not known.' }),
})

const explainedDelivery = z
  .strictObject({
    id: z.string(),
    status: z.enum([
      'pending',
      'delivering',
      'succeeded',
      'exhausted',
      'blocked',
      'skipped',
      'canceled',
    ]),
    attempt_count: z.int(),
    created_at: instant,
  })
  .nullable()

export const explanation = z
  .strictObject({
    event_id: z.string(),
    webhook_id: z.string(),
    url: z.string(),
    webhook_status: z.enum(['active', 'disabled']),
    outcome: z.enum(OUTCOMES).meta({
      description: 'unknown: there were too many deliveries at that time to examine.',
    }),
    reasons: z.array(reason).min(1).meta({
      description:
        'Everything that applies. Without a delivery it derives from the present settings of the webhook. Limits and pauses are those of the process that answers.',
    }),
    delivery: explainedDelivery,
    next_attempt_at: instant
      .nullable()
      .meta({ description: 'Earliest time of the next attempt; null when none is scheduled.' }),
  })
  .meta({ id: 'EventExplanation' })

export const explanationPage = pageOf(explanation)

export function toWireExplanation(
  { event, webhook, delivery }: Facts,
  { outcome, reasons, next_attempt_at }: Explained,
): z.input<typeof explanation> {
  return {
    event_id: event.id,
    webhook_id: webhook.id,
    url: webhook.url,
    webhook_status: webhook.status,
    outcome,
    reasons: reasons.map(({ code, until }) => ({
      code,
      message: REASONS[code],
      until: isoOrNull(until),
    })),
    delivery:
      delivery === undefined
        ? null
        : {
            id: delivery.id,
            status: delivery.status,
            attempt_count: delivery.attempts,
            created_at: new Date(delivery.created_at).toISOString(),
          },
    next_attempt_at: isoOrNull(next_attempt_at),
  }
}

export const exampleExplanation = {
  event_id: 'evt_01k7zq4w3mx5t8v2c6b9n1d0fh',
  webhook_id: '01890a5d-ac96-774b-bcce-b302099a8060',
  url: 'https://hooks.example.com/in',
  webhook_status: 'active',
  outcome: 'not_sent',
  reasons: [{ code: 'type_not_selected', message: REASONS.type_not_selected, until: null }],
  delivery: null,
  next_attempt_at: null,
} as const
