import { z } from 'zod'
import { toIso } from '../../../lib/time.ts'
import type { ErrorGroupRecord } from '../../../plugins/platform/contract/error-groups.ts'
import { ERROR_GROUP_STATUSES } from '../../../plugins/platform/contract/error-groups.ts'
import { exampleApp } from '../apps/schema.ts'
import { instant, isoOrNull, pageOf, plainText } from '../wire.ts'
import { env, exampleLine } from './log-schema.ts'

export const errorParams = z.strictObject({ app_id: plainText, error_id: plainText })

export const appError = z
  .strictObject({
    id: z.string(),
    error_id: z.string().meta({ description: 'Same as id.' }),
    app_id: z.string(),
    fingerprint: z
      .string()
      .meta({ description: 'Fingerprint of the parts that every occurrence shares.' }),
    type: z.string(),
    title: z.string(),
    culprit: z.string().meta({ description: 'Location: function and file.' }),
    status: z.enum(ERROR_GROUP_STATUSES),
    env,
    count: z.int(),
    first_seen: instant,
    last_seen: instant,
    resolved_at: instant.nullable(),
    reopened_at: instant
      .nullable()
      .meta({ description: 'Time of the first occurrence after it was resolved.' }),
    deployment_id: z.string().nullable().meta({ description: 'Deployment that introduced it.' }),
    edit_id: z.string().nullable().meta({ description: 'Edit that the deployment introduced.' }),
    sample: z
      .strictObject({ message: z.string(), stack: z.string().nullable(), url: z.string() })
      .meta({
        description:
          'Latest occurrence, without query strings, e-mail addresses, long numbers and tokens.',
      }),
  })
  .meta({ id: 'AppError' })

export const errorPage = pageOf(appError)

/** Response of resolving: a key that changes apps may lack `observe:read`. */
export const resolvedError = appError
  .pick({ id: true, error_id: true, app_id: true, status: true, resolved_at: true })
  .meta({ id: 'ResolvedAppError' })

export function toResolved(group: ErrorGroupRecord): z.input<typeof resolvedError> {
  const { id, error_id, app_id, status, resolved_at } = toWireError(group)
  return { id, error_id, app_id, status, resolved_at }
}

export function toWireError(group: ErrorGroupRecord): z.input<typeof appError> {
  return {
    id: group.id,
    error_id: group.id,
    app_id: group.app_id,
    fingerprint: group.fingerprint,
    type: group.type,
    title: group.title,
    culprit: group.culprit,
    status: group.status,
    env: group.kind,
    count: group.count,
    first_seen: toIso(group.first_seen),
    last_seen: toIso(group.last_seen),
    resolved_at: isoOrNull(group.resolved_at),
    reopened_at: isoOrNull(group.reopened_at),
    deployment_id: group.deployment_id,
    edit_id: group.edit_id,
    sample: { ...group.sample },
  }
}

/** Shared by examples. */
export const exampleError = {
  id: '01890a5d-ac96-774b-bcce-b302099a8059',
  error_id: '01890a5d-ac96-774b-bcce-b302099a8059',
  app_id: exampleApp.id,
  fingerprint: 'ab'.repeat(32),
  type: 'error',
  title: "TypeError: Cannot read properties of undefined (reading 'price')",
  culprit: 'total (/cart.js)',
  status: 'open',
  env: 'published',
  count: 12,
  first_seen: '2026-01-30T12:00:00.000Z',
  last_seen: '2026-01-31T12:00:00.000Z',
  resolved_at: null,
  reopened_at: null,
  deployment_id: exampleLine.deployment_id,
  edit_id: '01890a5d-ac96-774b-bcce-b302099a805a',
  sample: {
    message: "TypeError: Cannot read properties of undefined (reading 'price')",
    stack: 'TypeError: …\n    at total (https://shop.example.net/cart.js:4:12)',
    url: 'https://shop.example.net/cart',
  },
} as const
