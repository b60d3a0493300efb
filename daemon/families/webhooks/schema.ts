import { z } from 'zod'
import { toIso } from '../../../lib/time.ts'
import { EVENT_TYPE } from '../../../lib/webhook/event.ts'
import { typeOfUrl } from '../../../lib/webhook/destination.ts'
import { RESERVED_NAMES, RESERVED_PREFIXES } from '../../../lib/webhook/headers.ts'
import { FAMILY } from '../../../lib/webhook/match.ts'
import type { WebhookRecord } from '../../../lib/webhook/record.ts'
import { fault } from '../../operations/faults.ts'
import {
  anyText,
  appId,
  creator,
  givenInstant,
  instant,
  isoOrNull,
  pageOf,
  plainText,
  text,
  changesOf,
  namesOf,
} from '../wire.ts'

export const webhookParams = z.strictObject({ webhook_id: plainText })

/** Characters that a URL does not contain: control characters, blanks and backslashes. */
const NOT_IN_URL =
  '\\u0000-\\u0020\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\\\#'

/** The egress guard checks it, and says more than a pattern. */
const url = z
  .string()
  .min(1)
  .meta({
    pattern: `^(?:[Hh][Tt][Tt][Pp][Ss]?://[^${NOT_IN_URL}/?@]+(?:[/?][^${NOT_IN_URL}]*)?|[a-z][a-z0-9-]{0,31}:[a-z][a-z0-9._-]{0,63})$`,
    description:
      'Public https address, or a destination that the operator declares, such as rabbitmq:orders. The operator lists permitted private addresses.',
    maxLength: 2048,
    example: 'https://hooks.example.com/in',
  })
/** Forms of a subscription: a type, a family, or every built-in type. */
const SUBSCRIPTION = `^(?:\\*|${[EVENT_TYPE, FAMILY].map(inner).join('|')})$`

/** A pattern without its anchors. */
function inner({ source }: RegExp): string {
  return source.slice(1, -1)
}

const events = z
  .array(anyText(100).meta({ pattern: SUBSCRIPTION }))
  .min(1)
  .max(100)
  .superRefine((types, ctx) => {
    for (const [index, type] of types.entries()) {
      if (types.indexOf(type) === index) continue
      ctx.addIssue({
        code: 'custom',
        path: [index],
        ...fault('duplicate', 'Duplicate event type.'),
      })
    }
  })
  .meta({
    description:
      'Event types: a name, order.* for a family, * for every built-in type, also later ones. Declared types and families need events:read.',
    uniqueItems: true,
    example: ['app.deployed'],
  })
const apps = z
  .array(appId)
  .min(1)
  .max(100)
  .transform((ids) => [...new Set(ids)].sort())
  .nullable()
  .meta({ description: 'Apps whose events are sent; null for all, and events without an app.' })
/** A pattern of header names that the sender sets under every brand, in any case. */
function ofTheSender(): string {
  const either = (name: string): string =>
    name.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`)
  const names = [...RESERVED_NAMES].map(either).join('|')
  return `^(?:(?:${names})$|${RESERVED_PREFIXES.map(either).join('|')})`
}

/** The check of headers also knows the names of the brand. */
const headerName = z.string().meta({
  pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
  minLength: 1,
  maxLength: 100,
  not: { pattern: ofTheSender() },
})
const headerValue = z.string().meta({
  pattern: '^(?:[!-~\\x80-\\x9f\\xa1-\\xff](?:[\\t -~\\x80-\\xff]*[!-~\\x80-\\x9f\\xa1-\\xff])?)?$',
  maxLength: 1000,
})
const headers = namesOf(headerName, headerValue, 20)
  .nullable()
  .meta({
    description:
      'Your own headers, sent with every delivery; values are never shown again. Changing the origin of url deletes them.',
    example: { 'X-Receiver': 'billing' },
  })
const rateLimit = z
  .int()
  .min(1)
  .max(1000)
  .nullable()
  .meta({ description: 'Maximum deliveries per second; null for no limit.' })
const concurrency = z
  .int()
  .min(1)
  .max(64)
  .nullable()
  .meta({ description: 'Maximum concurrent deliveries; null uses the default.' })
const standardHeaders = z.boolean().meta({
  description:
    'Also send the headers of Standard Webhooks. Default for a new webhook: KEYHOOK_WEBHOOK_STANDARD_HEADERS.',
})
const traceHeaders = z.boolean().meta({
  description:
    'Also send the W3C traceparent of the trace, where the event has one. Default false.',
})

export const webhookCreation = z.strictObject({
  url,
  events,
  description: text(500).nullable().optional(),
  apps: apps.optional(),
  standard_headers: standardHeaders.optional(),
  trace_headers: traceHeaders.optional(),
  headers: headers.optional(),
  rate_limit: rateLimit.optional(),
  concurrency: concurrency.optional(),
  status: z.enum(['active', 'disabled']).optional().meta({
    description:
      'disabled: nothing is sent but tests until the webhook is enabled. Default active.',
  }),
})

export const webhookChanges = changesOf({
  url: url.optional(),
  events: events.optional(),
  description: text(500).nullable().optional(),
  apps: apps.optional(),
  standard_headers: standardHeaders.optional(),
  trace_headers: traceHeaders.optional(),
  headers: headers.optional(),
  rate_limit: rateLimit.optional(),
  concurrency: concurrency.optional(),
  status: z.enum(['active', 'disabled']).optional().meta({
    description: 'active resets the failure counters; disabled skips pending deliveries.',
  }),
})

export const webhookRecord = z
  .strictObject({
    id: z.string(),
    webhook_id: z.string().meta({ description: 'Same as id.' }),
    url: z.string(),
    type: z.string().meta({
      description:
        'https, or the type of the destination that url names, such as rabbitmq, redis or that of a plugin.',
    }),
    events: z.array(z.string()),
    description: z.string().nullable(),
    apps: z.array(z.string()).nullable(),
    status: z.enum(['active', 'disabled']),
    disabled_reason: z
      .enum(['failures', 'gone', 'manual', 'key_revoked', 'key_narrowed'])
      .nullable(),
    disabled_at: instant.nullable(),
    consecutive_failures: z
      .int()
      .meta({ description: 'Failed automatic attempts since the last success.' }),
    first_failure_at: instant.nullable(),
    last_success_at: instant.nullable(),
    last_delivery_at: instant.nullable(),
    standard_headers: z.boolean(),
    trace_headers: z.boolean(),
    header_names: z
      .array(z.string())
      .meta({ description: 'Names of your own headers; their values are not shown.' }),
    rate_limit: z.int().nullable(),
    concurrency: z.int().nullable(),
    secret_prefix: z.string().meta({ description: 'First characters of the signing secret.' }),
    previous_secret_valid_until: instant.nullable().meta({
      description: "End of the previous secret's overlap; null after it was ended at once.",
    }),
    created_by: creator,
    created_at: instant,
    updated_at: instant,
    set_by: creator.meta({ description: 'Who last set its url, events, apps or secret.' }),
    set_at: instant,
  })
  .meta({ id: 'Webhook' })

export const webhookPage = pageOf(webhookRecord)

/** The record with its signing secret, which is shown once. */
export const createdWebhook = webhookRecord
  .extend({
    secret: z
      .string()
      .nullable()
      .meta({ description: 'Shown once; null in an idempotent replay.' }),
  })
  .meta({ id: 'CreatedWebhook' })

export function toWireWebhook(webhook: WebhookRecord): z.input<typeof webhookRecord> {
  return {
    id: webhook.id,
    webhook_id: webhook.id,
    url: webhook.url,
    type: typeOfUrl(webhook.url),
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
    trace_headers: webhook.trace_headers,
    header_names: [...(webhook.headers?.names ?? [])],
    rate_limit: webhook.rate_limit,
    concurrency: webhook.concurrency,
    secret_prefix: webhook.secrets[0]?.display ?? '',
    previous_secret_valid_until: isoOrNull(webhook.secrets[1]?.not_after || null),
    created_by: { ...webhook.created_by },
    created_at: toIso(webhook.created_at),
    updated_at: toIso(webhook.updated_at),
    set_by: { ...webhook.set_by },
    set_at: toIso(webhook.set_at),
  }
}

export const secretRotation = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(604_800)
      .optional()
      .meta({ description: 'Seconds that earlier secrets also sign. Default 86400.' }),
  })
  .optional()

const since = givenInstant.meta({ description: 'Events at this instant or later.' })
const until = givenInstant
  .optional()
  .meta({ description: 'Events before this instant. Default now.' })
const dryRun = z
  .boolean()
  .optional()
  .meta({ description: 'Only count; change nothing. Default false.' })

export const retryFailedBody = z.strictObject({ since, until, dry_run: dryRun })

export const replayBody = z.strictObject({
  since,
  until,
  types: z
    .array(anyText(100))
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'Event types to send. Default: all that the webhook subscribes to.' }),
  dry_run: dryRun,
})

/** Replayed or retried deliveries. */
export const sentAgain = z
  .strictObject({
    webhook_id: z.string(),
    queued: z.int().meta({ description: 'Deliveries that are due now, or would be.' }),
    dry_run: z.boolean(),
  })
  .meta({ id: 'SentAgain' })

/** Shared by examples. */
export const exampleWebhook = {
  id: '01890a5d-ac96-774b-bcce-b302099a8060',
  webhook_id: '01890a5d-ac96-774b-bcce-b302099a8060',
  url: 'https://hooks.example.com/in',
  type: 'https',
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
  trace_headers: false,
  header_names: [],
  rate_limit: null,
  concurrency: null,
  secret_prefix: 'whsec_q83v…',
  previous_secret_valid_until: null,
  created_by: { type: 'user', id: '01890a5d-ac96-774b-bcce-b302099a8000' },
  created_at: '2026-01-30T12:00:00.000Z',
  updated_at: '2026-01-30T12:00:00.000Z',
  set_by: { type: 'user', id: '01890a5d-ac96-774b-bcce-b302099a8000' },
  set_at: '2026-01-30T12:00:00.000Z',
} as const
