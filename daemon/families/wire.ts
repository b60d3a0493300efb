/**
 * Schemas that several families share: instants, ids and pages on the wire.
 *
 * @module
 */
import { z } from 'zod'
import type { Instant } from '../../lib/time.ts'
import { toIso } from '../../lib/time.ts'
import { fault } from '../operations/faults.ts'
import { BLANK, MODEL_NAME, NUL, anyText, text } from '../operations/text.ts'
import { MOST_LOOKED_AT } from '../../plugins/store/contract/page.ts'

export { BLANK, NUL, anyText, text }

/** An object with at least one member. */
export function changesOf<Shape extends z.ZodRawShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> {
  return z
    .strictObject(shape)
    .refine(
      (changes) => Object.keys(changes).length > 0,
      fault('too_small', 'Name at least one field to change.'),
    )
    .meta({ minProperties: 1 })
}

/** An object whose names the caller chooses. */
export function namesOf<Name extends z.ZodString, Value extends z.ZodType>(
  name: Name,
  value: Value,
  max: number,
): z.ZodRecord<Name, Value> {
  return z
    .record(name, value)
    .refine((given) => Object.keys(given).length <= max, fault('too_big', `At most ${max} names.`))
    .meta({ maxProperties: max })
}

/** Constraint of a value to exactly one of these members, as JSON Schema expresses it. */
export function exactlyOne(...names: readonly string[]): { readonly oneOf: readonly object[] } {
  return {
    oneOf: names.map((name) => ({
      required: [name],
      properties: Object.fromEntries(names.map((one) => [one, one === name])),
    })),
  }
}

/**
 * A text in a path or query that is compared with stored values. What is not found is not found, whatever it
 * contains. In a JSON body use `anyText`: there U+0000 is refused before any schema.
 */
export const plainText: z.ZodString = z
  .string()
  .min(1)
  .max(100)
  // No stored text contains U+0000, and PostgreSQL refuses it in a parameter: U+FFFD replaces it.
  .overwrite((value) => value.replaceAll('\0', '\uFFFD'))

/** An app's identifier, opaque to the kernel. */
export const appId: z.ZodString = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'An app id is 1 to 64 letters, digits, _ or -.')

/** An instant on the wire. */
export const instant: z.ZodString = z.string().meta({ format: 'date-time' })

const RFC_3339 =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/

/** Date.parse takes 30 February for 2 March: a day that does not exist is not an instant. */
function parseInstant(text: string): number {
  const [, year, month, day] = RFC_3339.exec(text) ?? []
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  const exists = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
  return exists ? Date.parse(text) : NaN
}

/** An instant as a caller writes it: RFC 3339 with a time zone. Parsed to milliseconds. */
export const givenInstant: z.ZodType<Instant, string> = z
  .string()
  .meta({ format: 'date-time' })
  .transform((value, ctx) => {
    const at = parseInstant(value)
    if (!Number.isNaN(at)) return at
    ctx.addIssue({
      code: 'custom',
      ...fault('invalid_format', 'Must be RFC 3339, such as 2030-01-31T12:00:00Z.'),
    })
    return z.NEVER
  })

export function isoOrNull(at: Instant | null): string | null {
  return at === null ? null : toIso(at)
}

/** Creator of a record. */
export const creator: z.ZodObject = z.strictObject({
  type: z.enum(['key', 'user', 'operator']),
  id: z.string().nullable(),
})

/** Query parameters of every list. */
export const pageQuery = {
  limit: z
    .string()
    .regex(/^([1-9][0-9]?|100)$/, 'Must be a whole number from 1 to 100.')
    .transform(Number)
    .optional()
    .meta({ description: 'Maximum records of a page: 1 to 100. Default 20.' }),
  cursor: z
    .string()
    .max(500)
    .regex(/^[A-Za-z0-9_-]+$/, 'Must be the next_cursor of a page.')
    .optional()
    .meta({ description: 'next_cursor of the page before, with the same filters.' }),
} as const

/**
 * Query parameters of a list whose filters have no index.
 *
 * @param records noun of the listed records
 */
export const filteredPageQuery = (records: string): typeof pageQuery => ({
  ...pageQuery,
  limit: pageQuery.limit.meta({
    description: `Maximum records of a page: 1 to 100, 20 when missing. With a filter, a page examines at most ${MOST_LOOKED_AT.toLocaleString('en')} ${records}: it may be short, or empty, while has_more is true; continue with next_cursor.`,
  }),
})

/** Maximum seconds to hold the response until there is a change. */
export const wait = z
  .string()
  .regex(/^([0-9]|1[0-9]|2[0-5])$/, 'Must be whole seconds from 0 to 25.')
  .transform(Number)
  .optional()
  .meta({ description: 'Seconds to wait for the end before responding: 0 to 25. Default 0.' })

/** Response of every list. */
export function pageOf<T extends z.ZodType>(
  record: T,
): z.ZodObject<{
  data: z.ZodArray<T>
  has_more: z.ZodBoolean
  next_cursor: z.ZodNullable<z.ZodString>
}> {
  return z.strictObject({
    data: z.array(record),
    has_more: z.boolean().meta({
      description: 'Whether there may be more records, whatever the number on this page.',
    }),
    next_cursor: z.string().nullable(),
  })
}

export const prompt = text(32_768).meta({ description: 'Prompt: the change to make.' })

export const model = z
  .string()
  .regex(MODEL_NAME, 'A model is 1 to 100 letters, digits or _ . : / @ + -')
  .meta({
    description: 'Model allowed by the operator. Default KEYHOOK_LLM_MODEL.',
  })
