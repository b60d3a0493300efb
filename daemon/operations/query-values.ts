import { z } from 'zod'

/**
 * A whole number of a query, whose values are texts; the document and its clients have the number.
 *
 * @param message of a refusal
 */
export function wholeNumber(
  pattern: RegExp,
  message: string,
  bounds: { readonly minimum: number; readonly maximum: number },
): z.ZodPipe<z.ZodString, z.ZodTransform<number, string>> {
  return z
    .string()
    .regex(pattern, message)
    .meta({
      override({ jsonSchema }) {
        delete jsonSchema.pattern
        Object.assign(jsonSchema, { type: 'integer', ...bounds })
      },
    })
    .transform(Number)
}

/** A boolean of a query, whose values are texts; the document and its clients have the boolean. */
export const queryFlag: z.ZodEnum<{ true: 'true'; false: 'false' }> = z
  .enum(['true', 'false'])
  .meta({
    override({ jsonSchema }) {
      delete jsonSchema.enum
      jsonSchema.type = 'boolean'
    },
  })

/** A boolean of a query that is false when missing. */
export const queryFlagOff: z.ZodDefault<typeof queryFlag> = queryFlag
  .default('false')
  .meta({ override: { default: false } })
