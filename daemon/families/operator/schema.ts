import { z } from 'zod'
import { anyText, instant } from '../wire.ts'

export const operatorSignInBody = z.strictObject({
  token: anyText(1024).min(1).meta({ description: 'The operator token.' }),
})

export const operatorSession = z
  .strictObject({
    expires_at: instant
      .nullable()
      .meta({ description: 'When it ends, however much it is used; null for the token itself.' }),
  })
  .meta({ id: 'OperatorSession' })

export const exampleOperatorSession = { expires_at: '2026-01-31T13:00:00.000Z' } as const

const total = z.number().nullable()

const failedAttempt = z.strictObject({
  at: instant,
  account_id: z.string(),
  webhook_id: z.string(),
  delivery_id: z.string(),
  error: z.string(),
  reason: z.string().nullable(),
  status_code: z.int().nullable(),
})

export const serviceStatus = z
  .strictObject({
    at: instant,
    version: z.string(),
    node_version: z.string(),
    uptime_seconds: z.int(),
    sending: z.enum(['active', 'paused']),
    unfinished_deliveries: total.meta({
      description: 'Of all daemons, counted up to 10000; null when the database does not answer.',
    }),
    webhooks_with_backlog: total,
    webhooks_due: total,
    oldest_due_seconds: total.meta({
      description: 'Age of the oldest delivery that is due; 0 without one.',
    }),
    webhooks_failing: total.meta({
      description: 'Webhooks of all accounts whose last attempt by this process failed.',
    }),
    claimed_deliveries: total,
    events_total: total.meta({
      description: 'Since the start of this process, as are all totals.',
    }),
    attempts_total: total,
    attempts_unrecorded: total,
    requests_total: total,
    last_errors: z.array(failedAttempt).meta({
      description: 'The latest failed attempts of this process over all accounts, at most 10.',
    }),
    database: z.strictObject({
      kind: z.enum(['sqlite', 'postgres']),
      bytes: z.number().nullable().meta({ description: 'Null when it is on another machine.' }),
    }),
    disk: z
      .strictObject({ free_bytes: z.number(), total_bytes: z.number() })
      .meta({ description: 'Of the data folder.' }),
  })
  .meta({ id: 'ServiceStatus' })

export const settingInForce = z
  .strictObject({
    name: z.string(),
    source: z.enum(['variable', 'file', 'dev', 'test', 'default']),
    value: z.string().nullable().meta({ description: 'Null for a secret that is set.' }),
    secret: z.boolean(),
    doc: z.string(),
  })
  .meta({ id: 'SettingInForce' })
