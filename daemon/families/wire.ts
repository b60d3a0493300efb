/**
 * Pieces that the schemas of several families share: how instants, ids and pages look on the wire.
 *
 * @module
 */
import { z } from 'zod'
import type { Instant } from '../../lib/time.ts'
import { toIso } from '../../lib/time.ts'

/** Text as it may be stored: no NUL, no lone surrogates, and not only white space. */
export function text(max: number): z.ZodString {
  return z
    .string()
    .min(1)
    .max(max)
    .refine((value) => !/[\0\p{Surrogate}]/u.test(value), 'Must be well-formed text.')
    .refine((value) => value.trim() !== '', 'Must not be blank.')
}

/** A text that is only compared with what is kept: whatever it is, what is not found is not found. */
export const plainText: z.ZodString = z
  .string()
  .min(1)
  .max(100)
  // No text that is kept holds a NUL, and PostgreSQL takes none: it is looked for as what is never kept.
  .overwrite((value) => value.replaceAll('\0', '\uFFFD'))

/** An app's identifier, opaque to the kernel. */
export const appId: z.ZodString = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'An app id is 1 to 64 letters, digits, _ or -.')

/** An instant on the wire. */
export const instant: z.ZodString = z.string().meta({ format: 'date-time' })

const RFC_3339 =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/

/** Date.parse takes 30 February for 2 March: a day that does not exist is no instant. */
function parseInstant(text: string): number {
  const [, year, month, day] = RFC_3339.exec(text) ?? []
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  const exists = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
  return exists ? Date.parse(text) : NaN
}

/** An instant as a caller gives it: RFC 3339 with a time zone. Parsed to milliseconds. */
export const givenInstant: z.ZodType<Instant, string> = z
  .string()
  .meta({ format: 'date-time' })
  .transform((value, ctx) => {
    const at = parseInstant(value)
    if (!Number.isNaN(at)) return at
    ctx.addIssue({ code: 'custom', message: 'Must be RFC 3339, such as 2030-01-31T12:00:00Z.' })
    return z.NEVER
  })

export function isoOrNull(at: Instant | null): string | null {
  return at === null ? null : toIso(at)
}

/** Who made a record, on the wire. */
export const creator: z.ZodObject = z.strictObject({
  type: z.enum(['key', 'user', 'operator']),
  id: z.string().nullable(),
})

/** The parameters of every list. */
export const pageQuery = {
  limit: z
    .string()
    .regex(/^[1-9]\d{0,2}$/, 'Must be a whole number from 1 to 100.')
    .transform(Number)
    .refine((value) => value <= 100, 'Must be a whole number from 1 to 100.')
    .optional()
    .meta({ description: 'Records a page holds: 1 to 100, 20 when missing.' }),
  cursor: z
    .string()
    .max(500)
    .optional()
    .meta({ description: 'The next_cursor of the page before, under the same filters.' }),
} as const

/** How long an answer may be held back until there is something to tell. */
export const wait = z
  .string()
  .regex(/^(\d|1\d|2[0-5])$/, 'Must be whole seconds from 0 to 25.')
  .transform(Number)
  .optional()
  .meta({ description: 'Seconds to wait for its end before answering: 0 to 25, 0 when missing.' })

/** The answer of every list. */
export function pageOf<T extends z.ZodType>(
  record: T,
): z.ZodObject<{
  data: z.ZodArray<T>
  has_more: z.ZodBoolean
  next_cursor: z.ZodNullable<z.ZodString>
}> {
  return z.strictObject({
    data: z.array(record),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
  })
}
