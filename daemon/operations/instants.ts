import { z } from 'zod'
import type { Instant } from '../../lib/time.ts'
import { toIso } from '../../lib/time.ts'
import { fault } from './faults.ts'

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
