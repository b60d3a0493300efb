import { z } from 'zod'
import { toIso } from '../../../../lib/time.ts'
import type { ListedService } from '../../../../plugins/platform/contract/services.ts'
import { SERVICE_KINDS } from '../../../../plugins/platform/contract/services.ts'
import { fault } from '../../../operations/faults.ts'
import { exampleApp } from '../../apps/schema.ts'
import { anyText, BLANK, instant, namesOf, pageOf, plainText, text } from '../../wire.ts'

/** Maximum configuration entries of one service, and maximum secrets. */
export const MAX_ENTRIES = 50

export const serviceParams = z.strictObject({ app_id: plainText, service: plainText })

export const namedService = z.strictObject({
  app_id: plainText,
  service: z
    .string()
    .regex(
      /^[a-z][a-z0-9_-]{0,39}$/,
      'A name is 1 to 40 lower-case letters, digits, _ or -, a letter first.',
    ),
})

const entryName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, 'A name is 1 to 64 letters, digits or _, no digit first.')

/** As in postgres://user:password@host. */
const CREDENTIALS = new RegExp(`//[^${BLANK}/:@]*:[^${BLANK}/@]+@`)

const config = namesOf(
  entryName,
  text(1000)
    .refine(
      (value) => !CREDENTIALS.test(value),
      fault('invalid_format', 'An address with a password belongs among the secrets.'),
    )
    .meta({ not: { pattern: CREDENTIALS.source } }),
  MAX_ENTRIES,
).meta({
  description: 'Configuration without secrets, as strings; replaces the previous one.',
  example: { region: 'eu-central' },
})

const secrets = namesOf(entryName, anyText(8192).min(1).nullable(), MAX_ENTRIES).meta({
  description: 'Secrets, never shown again. null removes one; omitted ones stay.',
  example: { PASSWORD: 'correct horse battery' },
})

export const serviceSetting = z.strictObject({
  kind: z.enum(SERVICE_KINDS),
  config: config.optional(),
  secrets: secrets.optional(),
})

export const serviceRecord = z
  .strictObject({
    name: z.string(),
    service: z.string().meta({ description: 'The same as name.' }),
    app_id: z.string(),
    kind: z.enum(SERVICE_KINDS),
    config: z.record(z.string(), z.string()),
    secret_names: z
      .array(z.string())
      .meta({ description: 'Names of the secrets; their values are never shown.' }),
    in_use: z.literal(false).meta({
      description:
        'Whether anything uses this service. Always false in this version: it is only stored.',
    }),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'Service' })

export const servicePage = pageOf(serviceRecord)

export function toWireService(service: ListedService): z.input<typeof serviceRecord> {
  return {
    name: service.name,
    service: service.name,
    app_id: service.app_id,
    kind: service.kind,
    config: { ...service.config },
    secret_names: service.secrets.map(({ name }) => name),
    in_use: false,
    created_at: toIso(service.created_at),
    updated_at: toIso(service.updated_at),
  }
}

/** Shared by examples. */
export const exampleService = {
  name: 'orders-db',
  service: 'orders-db',
  app_id: exampleApp.id,
  kind: 'database',
  config: { region: 'eu-central' },
  secret_names: ['PASSWORD'],
  in_use: false,
  created_at: '2026-01-30T12:00:00.000Z',
  updated_at: '2026-01-30T12:00:00.000Z',
} as const
