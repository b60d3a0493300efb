import { z } from 'zod'
import { anyText, appId, instant } from '../wire.ts'
import { cacheId, cacheable } from './cache-schema.ts'
import { ACTION_PATTERN } from './schema.ts'

export const verifyInput = z
  .strictObject({
    key: anyText(500).meta({ description: 'Key value that a caller sent.' }),
    scope: z
      .string()
      .max(80)
      .optional()
      .meta({ pattern: ACTION_PATTERN, description: 'Required scope, family:action.' }),
    app_id: appId.optional().meta({ description: 'App that its pins must include.' }),
    cache_id: cacheId.optional().meta({ description: 'Cache that is to keep the verdict.' }),
  })
  .meta({ id: 'KeyToVerify' })

export const verifyManyBody = z.strictObject({ keys: z.array(verifyInput).min(1).max(100) })

/** One key, or up to 100 with one verdict each. */
export const verifyBody = z.union([verifyInput, verifyManyBody])

export const keyVerdict = z
  .strictObject({
    valid: z.boolean(),
    code: z.string().nullable().meta({
      description:
        'Reason: invalid_key, key_expired, key_revoked, key_rotated, account_suspended, insufficient_scope or app_not_found.',
    }),
    message: z.string().nullable(),
    key_id: z.string().nullable(),
    account_id: z.string().nullable(),
    name: z.string().nullable(),
    scopes: z
      .array(z.string())
      .nullable()
      .meta({ description: 'Effective scopes, narrowed by all ancestors.' }),
    apps: z.array(z.string()).nullable().meta({ description: 'Pins; null for every app.' }),
    expires_at: instant.nullable(),
    value: z
      .enum(['current', 'previous'])
      .nullable()
      .meta({ description: 'previous: a replaced value in its grace period.' }),
    cache: cacheable.nullable().meta({
      description: 'How long the cache may keep the verdict; null: it may not.',
    }),
  })
  .meta({ id: 'KeyVerdict' })

export const verifyManyAnswer = z.strictObject({ data: z.array(keyVerdict) })

export const verifyAnswer = z.union([keyVerdict, verifyManyAnswer])

export const exampleVerdict = {
  valid: true,
  code: null,
  message: null,
  key_id: '01890a5d-ac96-774b-bcce-b302099a8057',
  account_id: '01890a5d-ac96-774b-bcce-b302099a8001',
  name: 'CI',
  scopes: ['apps:read'],
  apps: null,
  expires_at: null,
  value: 'current',
  cache: null,
} as const
