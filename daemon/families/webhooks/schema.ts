import { z } from 'zod'
import { toIso } from '../../../lib/time.ts'
import type { WebhookRecord } from '../../../lib/webhook/record.ts'
import { appId, creator, instant, isoOrNull, pageOf, pathId, text } from '../wire.ts'

export const webhookParams = z.strictObject({ webhook_id: pathId })

/** Judged by the egress guard, which says more than a pattern could. */
const url = z.string().min(1).meta({
  description: 'A public https address. Private ones must be listed by the operator.',
  maxLength: 2048,
  example: 'https://hooks.example.com/in',
})
const events = z
  .array(z.string().max(100))
  .min(1)
  .max(100)
  .superRefine((types, ctx) => {
    for (const [index, type] of types.entries()) {
      if (types.indexOf(type) === index) continue
      ctx.addIssue({ code: 'custom', path: [index], message: 'This type stands here twice.' })
    }
  })
  .meta({ description: 'Types of the service, or declared ones.', example: ['app.deployed'] })
const apps = z
  .array(appId)
  .min(1)
  .max(100)
  .transform((ids) => [...new Set(ids)].sort())
  .nullable()
  .meta({ description: 'Only events of these apps; null: of all, and events without an app.' })
const standardHeaders = z
  .boolean()
  .meta({ description: 'Also send the headers of Standard Webhooks.' })

export const webhookCreation = z.strictObject({
  url,
  events,
  description: text(500).nullable().optional(),
  apps: apps.optional(),
  standard_headers: standardHeaders.optional(),
})

export const webhookChanges = z
  .strictObject({
    url: url.optional(),
    events: events.optional(),
    description: text(500).nullable().optional(),
    apps: apps.optional(),
    standard_headers: standardHeaders.optional(),
    status: z
      .enum(['active', 'disabled'])
      .optional()
      .meta({ description: 'active clears the counters; disabled skips what is pending.' }),
  })
  .refine((changes) => Object.keys(changes).length > 0, 'Name at least one field to change.')

export const webhookRecord = z
  .strictObject({
    id: z.string(),
    webhook_id: z.string().meta({ description: 'The same as id.' }),
    url: z.string(),
    events: z.array(z.string()),
    description: z.string().nullable(),
    apps: z.array(z.string()).nullable(),
    status: z.enum(['active', 'disabled']),
    disabled_reason: z.enum(['failures', 'gone', 'manual', 'key_revoked']).nullable(),
    disabled_at: instant.nullable(),
    consecutive_failures: z
      .int()
      .meta({ description: 'Failed automatic attempts since the last success.' }),
    first_failure_at: instant.nullable(),
    last_success_at: instant.nullable(),
    last_delivery_at: instant.nullable(),
    standard_headers: z.boolean(),
    secret_prefix: z.string().meta({ description: 'The first characters of the signing secret.' }),
    created_by: creator,
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'Webhook' })

export const webhookPage = pageOf(webhookRecord)

/** The record with its signing secret, which is shown this once. */
export const createdWebhook = webhookRecord
  .extend({ secret: z.string().nullable().meta({ description: 'Shown once; null in a replay.' }) })
  .meta({ id: 'CreatedWebhook' })

export function toWireWebhook(webhook: WebhookRecord): z.input<typeof webhookRecord> {
  return {
    id: webhook.id,
    webhook_id: webhook.id,
    url: webhook.url,
    events: [...webhook.events],
    description: webhook.description,
    apps: webhook.apps && [...webhook.apps],
    status: webhook.status,
    disabled_reason: webhook.disabled_reason,
    disabled_at: isoOrNull(webhook.disabled_at),
    consecutive_failures: webhook.consecutive_failures,
    first_failure_at: isoOrNull(webhook.first_failure_at),
    last_success_at: isoOrNull(webhook.last_success_at),
    last_delivery_at: isoOrNull(webhook.last_delivery_at),
    standard_headers: webhook.standard_headers,
    secret_prefix: webhook.secrets[0]?.display ?? '',
    created_by: { ...webhook.created_by },
    created_at: toIso(webhook.created_at),
    updated_at: toIso(webhook.updated_at),
  }
}

/** What examples show. */
export const exampleWebhook = {
  id: '01890a5d-ac96-774b-bcce-b302099a8060',
  webhook_id: '01890a5d-ac96-774b-bcce-b302099a8060',
  url: 'https://hooks.example.com/in',
  events: ['app.deployed'],
  description: 'Tells the chat',
  apps: null,
  status: 'active',
  disabled_reason: null,
  disabled_at: null,
  consecutive_failures: 0,
  first_failure_at: null,
  last_success_at: '2026-01-31T12:00:00.000Z',
  last_delivery_at: '2026-01-31T12:00:00.000Z',
  standard_headers: false,
  secret_prefix: 'whsec_q83v…',
  created_by: { type: 'user', id: '01890a5d-ac96-774b-bcce-b302099a8000' },
  created_at: '2026-01-30T12:00:00.000Z',
  updated_at: '2026-01-30T12:00:00.000Z',
} as const
