import type { Schema } from '../../support/openapi.ts'
import { DOCUMENTED, resolveSchema } from '../../support/openapi.ts'
import type { Operation } from '../../../daemon/operations/operation.ts'

/** Characters of a text whose schema lets it be longer, the longest first: what is checked beside it may not. */
const LENGTHS = [16_384, 1024, 200]
/** Fields of an object that takes any. */
const FIELDS = 16

/** The schema of an operation's JSON body. */
export function schemaOf({ id }: Operation): Schema | undefined {
  const documented = DOCUMENTED.find(({ operationId }) => operationId === id)
  const schema = documented?.requestBody?.content?.['application/json']?.schema
  return schema && resolveSchema(schema)
}

/**
 * Values of a field of a body that are wider than the example's, the widest first: every text in them as long
 * as it may be.
 */
export function wideValues(example: unknown, schema: Schema | undefined): readonly unknown[] {
  return LENGTHS.map((length) => widen(example ?? '', schema, length)).filter(
    (value) => value !== (example ?? ''),
  )
}

function widen(value: unknown, given: Schema | undefined, length: number): unknown {
  if (given === undefined) return value
  const schema = resolveSchema(given)
  const forms = schema.anyOf ?? schema.oneOf
  if (forms !== undefined) {
    return widen(
      value,
      forms.find((form) => fits(value, form)),
      length,
    )
  }
  if (typeof value === 'string') return isFree(schema) ? textOf(schema, length) : value
  if (Array.isArray(value)) return value.map((item) => widen(item, schema.items, length))
  if (typeof value !== 'object' || value === null) return value
  const { properties, additionalProperties: more } = schema
  if (properties === undefined && typeof more === 'object') {
    const names = Array.from({ length: FIELDS }, (_, at) => `field${at}`)
    return Object.fromEntries(names.map((name) => [name, textOf(resolveSchema(more), length)]))
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, widen(field, properties?.[name], length)]),
  )
}

function fits(value: unknown, given: Schema): boolean {
  const { type, properties = {} } = resolveSchema(given)
  if (typeof value === 'string') return type === 'string'
  if (Array.isArray(value)) return type === 'array'
  return type === 'object' && Object.keys(value ?? {}).every((name) => name in properties)
}

/** Whether any text will do. */
function isFree({ type, enum: values, const: value, format, pattern }: Schema): boolean {
  return (
    type === 'string' &&
    [values, value, format].every((one) => one === undefined) &&
    admits(pattern)
  )
}

/** Patterns also say what a text must not hold. */
function admits(pattern: string | undefined): boolean {
  return pattern === undefined || new RegExp(pattern, 'u').test('xxx')
}

function textOf({ maxLength = Infinity }: Schema, length: number): string {
  return 'x'.repeat(Math.min(maxLength, length))
}
