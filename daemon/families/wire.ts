/**
 * Schemas that several families share: instants, ids and pages on the wire.
 *
 * @module
 */
import { z } from 'zod'
import { exactlyOne, fault } from '../operations/faults.ts'
import { wholeNumber } from '../operations/query-values.ts'
import { givenInstant, instant, isoOrNull } from '../operations/instants.ts'
import { BLANK, MODEL_NAME, NUL } from '../operations/patterns.ts'
import { anyText, text } from '../operations/text.ts'
import { MOST_LOOKED_AT } from '../../plugins/store/contract/page.ts'

export { BLANK, NUL, anyText, exactlyOne, givenInstant, instant, isoOrNull, text }

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

/** Creator of a record. */
export const creator: z.ZodObject = z.strictObject({
  type: z.enum(['key', 'user', 'operator', 'portal']),
  id: z.string().nullable(),
})

/** Query parameters of every list. */
export const pageQuery = {
  limit: wholeNumber(/^([1-9][0-9]?|100)$/, 'Must be a whole number from 1 to 100.', {
    minimum: 1,
    maximum: 100,
  })
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
export const wait = wholeNumber(/^([0-9]|1[0-9]|2[0-5])$/, 'Must be whole seconds from 0 to 25.', {
  minimum: 0,
  maximum: 25,
})
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
