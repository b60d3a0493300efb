import { z } from 'zod'

/** A schema as JSON. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The schema of an object, without combinators at its root, which model APIs refuse there. */
export interface ObjectSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties: boolean
}

/** Descriptions of schemas without what only OpenAPI understands: names of components, and references. */
class PlainDescriptions extends z.core.$ZodRegistry<Record<string, unknown>> {
  override get<Schema extends z.core.$ZodType>(
    schema: Schema,
  ): z.core.$replace<Record<string, unknown>, Schema> | undefined {
    const { id: _id, override: _override, ...plain } = z.globalRegistry.get(schema) ?? {}
    return plain as z.core.$replace<Record<string, unknown>, Schema>
  }
}

const DESCRIPTIONS = new PlainDescriptions()

/** A schema as JSON Schema 2020-12, in one piece. */
export function toPlainSchema(schema: z.core.$ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _dialect, ...plain } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    metadata: DESCRIPTIONS,
  })
  return plain
}

/**
 * One object that accepts what any of these schemas accepts: the members of all, of which those are required
 * that all require.
 *
 * @throws TypeError for a schema that is not an object or a union of objects
 */
export function mergeObjects(schemas: readonly JsonSchema[]): ObjectSchema {
  const forms = schemas.flatMap(formsOf)
  const properties: Record<string, JsonSchema> = {}
  for (const form of forms) {
    for (const [name, schema] of Object.entries(form.properties ?? {})) {
      properties[name] = either(properties[name], schema)
    }
  }
  const required = Object.keys(properties).filter((name) =>
    forms.every((form) => form.required?.includes(name) === true),
  )
  return {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  }
}

interface ObjectForm {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
}

function formsOf(schema: JsonSchema): readonly ObjectForm[] {
  const { type, anyOf } = schema
  if (type === 'object') return [schema]
  if (Array.isArray(anyOf)) return anyOf.flatMap((one) => formsOf(one as JsonSchema))
  throw new TypeError(`not the schema of an object: ${JSON.stringify(schema).slice(0, 200)}`)
}

function either(known: JsonSchema | undefined, schema: JsonSchema): JsonSchema {
  if (known === undefined || JSON.stringify(known) === JSON.stringify(schema)) return schema
  return { anyOf: [known, schema] }
}
