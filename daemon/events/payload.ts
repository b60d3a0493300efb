import { z } from 'zod'
import type { BuiltInEvent } from './types.ts'

type JsonSchema = Readonly<Record<string, unknown>>

const described = new WeakMap<BuiltInEvent, JsonSchema>()

/** JSON Schema of the data of an event that declares it. */
export function payloadSchemaOf(event: BuiltInEvent): JsonSchema | undefined {
  const { schema } = event
  if (schema === undefined) return undefined
  const known = described.get(event)
  if (known !== undefined) return known
  const exact = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override({ jsonSchema }) {
      // The name of a component of the OpenAPI document, and no word of JSON Schema.
      delete jsonSchema.id
    },
  })
  const open: JsonSchema = allowMore(exact)
  described.set(event, open)
  return open
}

/**
 * The schema without its refusal of other members. What is declared is exact, and what receivers are told is not: a
 * receiver that refuses what it does not know would fail with the next version that tells it more.
 */
export function allowMore<Schema>(schema: Schema): Schema {
  return opened(schema) as Schema
}

function opened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(opened)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(
    ([name, member]) => name !== 'additionalProperties' || member !== false,
  )
  return Object.fromEntries(members.map(([name, member]) => [name, opened(member)]))
}
