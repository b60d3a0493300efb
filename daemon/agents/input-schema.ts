/**
 * The arguments of a tool: all parts of an operation's input in one flat object, as its typed client takes
 * them.
 *
 * @module
 */
import type { z } from 'zod'
import { paramsIn } from '../client/route.ts'
import type { Operation } from '../operations/operation.ts'
import { READS } from '../operations/operation.ts'
import type { PartSpec } from '../operations/parts.ts'
import { querySchema } from '../operations/query.ts'
import type { JsonSchema, ObjectSchema } from './json-schema.ts'
import { mergeObjects, toPlainSchema } from './json-schema.ts'

/** One argument of a tool. */
export interface ToolArgument {
  readonly name: string
  /** Its place in the request; `whole`: it is the body, `key`: it is the Idempotency-Key. */
  readonly place: 'path' | 'query' | 'body' | 'whole' | 'part' | 'key'
  readonly schema: JsonSchema
  readonly required: boolean
}

/**
 * The arguments of an operation, in the order of its path, query and body.
 *
 * @throws TypeError when two of them have the same name
 */
export function argumentsOf(operation: Operation): readonly ToolArgument[] {
  const { id, input } = operation
  const found = [
    ...membersOf(input.params, 'path'),
    ...membersOf(queryOf(operation), 'query').map(asValue),
    ...bodyOf(input.body),
    ...Object.entries(input.parts ?? {}).map(partArgument),
    ...(takesKey(operation) ? [keyArgument(operation)] : []),
  ]
  const names = found.map(({ name }) => name)
  const duplicate = names.find((name, at) => names.indexOf(name) !== at)
  if (duplicate !== undefined) throw new TypeError(`${id} has two arguments ${duplicate}`)
  const missing = paramsIn(operation.path).find((name) => !names.includes(name))
  if (missing !== undefined) throw new TypeError(`${id} has no schema of ${missing}`)
  return found
}

/** The schema of a tool's arguments. */
export function inputSchemaOf(given: readonly ToolArgument[]): ObjectSchema {
  const required = given.filter((one) => one.required).map(({ name }) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(given.map(({ name, schema }) => [name, schema])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  }
}

/** The schema of a tool's result: with a quote, that of the price as well. */
export function outputSchemaOf({ output, quote }: Operation): ObjectSchema {
  const answers = quote === undefined ? [output] : [output, quote.output]
  return mergeObjects(answers.map((one) => toPlainSchema(one, 'output')))
}

/** A result is JSON: without the parameter that asks for another format. */
function queryOf(operation: Operation): z.ZodObject | undefined {
  const { input, quote } = operation
  return querySchema({ input, ...(quote === undefined ? {} : { quote }) })
}

function membersOf(
  schema: z.ZodType | undefined,
  place: ToolArgument['place'],
): readonly ToolArgument[] {
  if (schema === undefined) return []
  const { properties, required = [] } = mergeObjects([toPlainSchema(schema, 'input')])
  return Object.entries(properties).map(([name, one]) => ({
    name,
    place,
    schema: one,
    required: required.includes(name),
  }))
}

/** Members of the body, or the body itself where it is no single object. */
function bodyOf(body: z.ZodType | undefined): readonly ToolArgument[] {
  if (body === undefined) return []
  const schema = toPlainSchema(body, 'input')
  if (schema['type'] === 'object' && schema['properties'] !== undefined) {
    const isOptional = body.safeParse(undefined).success
    return membersOf(body, 'body').map((one) => (isOptional ? { ...one, required: false } : one))
  }
  return [{ name: 'body', place: 'whole', schema, required: true }]
}

/** A text that stands for a number or a boolean in a query is one in JSON. */
function asValue(argument: ToolArgument): ToolArgument {
  const { pattern, enum: choices, ...schema } = argument.schema
  if (typeof pattern === 'string' && isDigits(new RegExp(pattern))) {
    return { ...argument, schema: { ...schema, type: 'integer' } }
  }
  if (Array.isArray(choices) && choices.join() === 'true,false') {
    const { default: unset, ...rest } = schema
    const byDefault = unset === undefined ? {} : { default: unset === 'true' }
    return { ...argument, schema: { ...rest, type: 'boolean', ...byDefault } }
  }
  return argument
}

function isDigits(pattern: RegExp): boolean {
  return pattern.test('1') && !['a', '-', '_', '1a'].some((text) => pattern.test(text))
}

function partArgument([name, part]: readonly [string, PartSpec]): ToolArgument {
  const { kind, description, least, most } = part
  const one = kind === 'file' ? FILE : { type: 'string' }
  return {
    name,
    place: 'part',
    schema: {
      type: 'array',
      items: one,
      minItems: Math.max(least, 1),
      maxItems: most,
      description,
    },
    required: least > 0,
  }
}

/** A file inside JSON. */
const FILE: JsonSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', description: 'File name, with its extension.' },
    content: { type: 'string', description: 'Its text.' },
    content_base64: {
      type: 'string',
      description: 'Base64 in place of content, for binary files.',
    },
  },
  required: ['name'],
  additionalProperties: false,
}

/** Whether a repeated request may have its effect once, by its `Idempotency-Key`. */
export function takesKey({
  method,
  access,
  effect,
}: Pick<Operation, 'method' | 'access' | 'effect'>): boolean {
  return method === 'POST' && access !== 'public' && !READS.has(effect)
}

function keyArgument({ idempotency }: Operation): ToolArgument {
  return {
    name: 'idempotency_key',
    place: 'key',
    schema: {
      type: 'string',
      pattern: '^[\\x21-\\x7e]{1,255}$',
      description: 'Any text of yours; a repeated call with it has its effect once.',
    },
    required: idempotency === 'required',
  }
}
