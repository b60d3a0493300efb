import type { z } from 'zod'
import type { FieldError } from '../lib/errors.ts'
import { INPUT_PARSING, toFaults } from './faults.ts'
import { boundsOf } from './schema-bounds.ts'

/** A value as its schema reads it, or what is wrong with it. */
export type ReadInput<Schema extends z.ZodType> =
  | { readonly value: z.output<Schema>; readonly faults?: undefined }
  | { readonly value?: undefined; readonly faults: readonly FieldError[] }

/** Reads input by a schema. What is far too large for the schema is refused before it is read. */
export function createInputReader<Schema extends z.ZodType>(
  schema: Schema,
): (value: unknown, place: string) => ReadInput<Schema> {
  const bounds = boundsOf(schema)
  return (value, place) => {
    const excess = bounds(value)
    if (excess.length > 0) {
      return { faults: excess.map((one) => ({ ...one, location: place + one.location })) }
    }
    const result = schema.safeParse(value, INPUT_PARSING)
    if (result.success) return { value: result.data }
    return { faults: firstFaults(result.error.issues, place) }
  }
}

/** One more than an error lists, which says that there are more. */
const MAX_FAULTS = 51

function firstFaults(issues: readonly z.core.$ZodIssue[], place: string): readonly FieldError[] {
  const faults: FieldError[] = []
  for (const issue of issues) {
    for (const fault of toFaults(issue, place)) faults.push(fault)
    if (faults.length >= MAX_FAULTS) break
  }
  return faults
}
