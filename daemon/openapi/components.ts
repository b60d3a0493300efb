import { z } from 'zod'
import type { ErrorRow } from '../../lib/errors.ts'
import type { Operation } from '../operations/operation.ts'

/** `keys.rotate` and `Request` become `KeysRotateRequest`. */
export function componentName(id: string, kind: string): string {
  const words = id.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return `${words.join('')}${kind}`
}

/** The schema as a component: generators of clients invent a name for each that has none, and some of them twice. */
export function named(
  schema: z.ZodType,
  operation: Operation,
  kind: 'Request' | 'Form' | 'Page' | 'Result',
): z.ZodType {
  const { id, ...meta } = schema.meta() ?? {}
  return id === undefined ? schema.meta({ ...meta, id: componentName(operation.id, kind) }) : schema
}

export type ErrorRows = Readonly<Record<string, ErrorRow>>

/** The body of every refusal; its codes are those of the families. */
export function errorSchema(rows: ErrorRows): z.ZodType {
  const code = z.enum(Object.keys(rows).toSorted()).meta({
    id: 'ErrorCode',
    description: 'What was refused. Later versions may have more codes.',
  })
  const fault = z
    .strictObject({ location: z.string(), code: z.string(), message: z.string() })
    .meta({ id: 'Fault', description: 'One fault of the request, and where it is.' })
  const refusal = z
    .strictObject({
      code,
      message: z.string(),
      status: z.int(),
      request_id: z.string(),
      doc_url: z.string(),
      details: z.record(z.string(), z.unknown()),
      errors: z.array(fault),
    })
    .meta({ id: 'Refusal' })
  return z.strictObject({ error: refusal }).meta({ id: 'Error' })
}
