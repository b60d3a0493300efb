import { z } from 'zod'
import { keyStatus, previousSecrets } from '../../../lib/key/lifecycle.ts'
import type { KeyRecord } from '../../../lib/key/record.ts'
import type { Instant } from '../../../lib/time.ts'
import { toIso } from '../../../lib/time.ts'
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
} from '../wire.ts'
import { LISTED, keyWebhooks } from './webhooks.ts'

export const keyParams = z.strictObject({ key_id: plainText })

const NAME = '[a-z][a-z0-9_]{0,31}'

/** A required scope: one action. Families and settings declare the existing ones. */
export const ACTION_PATTERN = `^${NAME}:${NAME}$`
const SCOPE_PATTERN = `^(?:${NAME}:(?:${NAME}|\\*)|\\*:(?:read|\\*))$`

const scopes = z
  .array(anyText(80).meta({ pattern: SCOPE_PATTERN }))
  .min(1)
  .max(64)
  .meta({ description: 'family:action, family:*, *:read or *:*', example: ['apps:read'] })
const apps = z
  .array(appId)
  .min(1)
  .max(100)
  .meta({ description: 'Apps that the key is pinned to. Default: those of its creator.' })
const expiry = givenInstant.nullable().meta({ description: 'Expiry; null for never.' })

export const keyCreation = z.strictObject({
  name: text(100),
  scopes,
  apps: apps.optional(),
  expires_at: expiry.optional(),
  monthly_budget_micros: z.int().min(1).max(Number.MAX_SAFE_INTEGER).optional().meta({
    description:
      "Most that the key and those below it may spend in a month of UTC, in millionths of the currency's unit. Fixed at creation. Default: no limit of its own.",
  }),
})

export const keyChanges = changesOf({
  name: text(100).optional(),
  scopes: scopes.optional(),
  expires_at: expiry.optional(),
})

export const keyRotation = z
  .strictObject({
    grace_seconds: z
      .int()
      .min(0)
      .max(86_400)
      .optional()
      .meta({ description: 'Seconds that the replaced value works. Default 86400.' }),
  })
  .optional()

export const keyRecord = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    prefix: z.string().meta({ description: 'First characters of the current value.' }),
    scopes: z.array(z.string()),
    apps: z.array(z.string()).nullable(),
    status: z.enum(['active', 'rotating', 'expired', 'revoked']),
    parent_key_id: z.string().nullable(),
    monthly_budget_micros: z
      .int()
      .nullable()
      .meta({ description: 'Null for no limit of its own; those above it count too.' }),
    created_by: creator,
    created_at: instant,
    updated_at: instant,
    expires_at: instant.nullable(),
    revoked_at: instant.nullable(),
    last_used_at: instant.nullable(),
    previous_valid_until: instant
      .nullable()
      .meta({ description: 'End of the last previous value; null when none works.' }),
    previous_values: z
      .array(z.strictObject({ prefix: z.string(), valid_until: instant }))
      .meta({ description: 'Previous values that work, newest first; at most four.' }),
  })
  .meta({ id: 'Key' })

export const keyPage = pageOf(keyRecord)

/** The record with its value, which is shown once. */
export const createdKey = keyRecord
  .extend({
    key: z.string().nullable().meta({ description: 'Shown once; null in an idempotent replay.' }),
  })
  .meta({ id: 'CreatedKey' })

export const ownKey = keyRecord
  .extend({
    account_id: z.string(),
    effective_scopes: z.array(z.string()),
    effective_apps: z.array(z.string()).nullable(),
    effective_expires_at: instant.nullable(),
  })
  .meta({ id: 'OwnKey' })

/** The record with the webhooks that the key, or a descendant, created or changed. */
export const keyWithWebhooks = keyRecord
  .extend({
    ...keyWebhooks,
    webhooks: keyWebhooks.webhooks.meta({
      description:
        'Webhooks that the key or its descendants created, or whose url, events, apps or secret they last set. They outlive the key.',
    }),
  })
  .meta({ id: 'KeyWithWebhooks' })

const effective = {
  effective_scopes: z
    .array(z.string())
    .meta({ description: 'Scopes within those of every key above it.' }),
  effective_apps: z
    .array(z.string())
    .nullable()
    .meta({ description: 'Pins in effect; null for every app.' }),
  effective_expires_at: instant.nullable(),
}

/** One key with what it may do by its whole chain. */
export const keyDetail = keyWithWebhooks
  .extend({
    ...effective,
    ancestors: z
      .array(
        z.strictObject({
          id: z.string(),
          name: z.string(),
          scopes: z.array(z.string()),
          apps: z.array(z.string()).nullable(),
          expires_at: instant.nullable(),
          revoked_at: instant.nullable(),
        }),
      )
      .meta({ description: 'Keys above it that you may read, root first.' }),
  })
  .meta({ id: 'KeyDetail' })

export const updatedKey = keyRecord
  .extend({
    ...keyWebhooks,
    webhooks: keyWebhooks.webhooks.meta({
      description:
        'Webhooks of the key and its descendants that still receive what this change removes: with scopes, unreadable types; with expires_at, all that outlive it.',
    }),
  })
  .meta({ id: 'UpdatedKey' })

export const revokedKey = keyWithWebhooks
  .extend({
    keys: z
      .array(z.string())
      .max(LISTED)
      .meta({ description: 'The key and all its live descendants, which end together.' }),
    keys_total: z.int().meta({ description: 'Total number; the first 100 are listed.' }),
  })
  .meta({ id: 'RevokedKey' })

/**
 * @param ended how it ended with an ancestor, if it did
 */
export function toWireKey(
  key: KeyRecord,
  now: Instant,
  ended?: 'revoked' | 'expired',
): z.input<typeof keyRecord> {
  const current = key.secrets.find(({ version }) => version === key.version)
  const status = ended ?? keyStatus(key, key.secrets, now)
  const previous = status === 'rotating' ? previousSecrets(key, now) : []
  const ends = previous.map(({ not_after }) => not_after ?? 0)
  return {
    id: key.id,
    name: key.name,
    prefix: current?.display ?? '',
    scopes: [...key.scopes],
    apps: key.pins === 'all' ? null : [...key.pins].sort(),
    status,
    parent_key_id: key.parent_id,
    monthly_budget_micros: key.monthly_budget_micros,
    created_by: { ...key.created_by },
    created_at: toIso(key.created_at),
    updated_at: toIso(key.updated_at),
    expires_at: isoOrNull(key.expires_at),
    revoked_at: isoOrNull(key.revoked_at),
    last_used_at: isoOrNull(key.last_used_at),
    previous_valid_until: ends.length === 0 ? null : toIso(Math.max(...ends)),
    previous_values: previous.map(({ display, not_after }) => ({
      prefix: display,
      valid_until: toIso(not_after ?? 0),
    })),
  }
}

/** Shared by examples. */
export const exampleKey = {
  id: '01890a5d-ac96-774b-bcce-b302099a8057',
  name: 'CI',
  prefix: 'service_dk_3fJ9kQ2x',
  scopes: ['apps:read', 'deploy:*'],
  apps: null,
  status: 'active',
  parent_key_id: null,
  monthly_budget_micros: null,
  created_by: { type: 'user', id: '01890a5d-ac96-774b-bcce-b302099a8000' },
  created_at: '2026-01-31T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:00.000Z',
  expires_at: null,
  revoked_at: null,
  last_used_at: null,
  previous_valid_until: null,
  previous_values: [],
} as const
