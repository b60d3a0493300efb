import { z } from 'zod'
import type { Field, FieldKind } from './command.ts'
import type { PartsInput } from './parts.ts'

type Schema = z.core.JSONSchema.BaseSchema
type Defs = Readonly<Record<string, Schema>>

/**
 * The fields of an object schema, in the order of declaration. A union uses its first object.
 *
 * @example
 * readFields(z.strictObject({ name: z.string() }), 'body') // [{ name: 'name', kind: 'text', … }]
 */
export function readFields(
  schema: z.ZodType | undefined,
  location: Field['location'],
): readonly Field[] {
  if (schema === undefined) return []
  const root: Schema = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const defs = root.$defs ?? {}
  const form = objectForm(root, defs)
  const required = new Set(form?.required)
  return Object.entries(form?.properties ?? {}).map(([name, property]) =>
    readField(name, location, required.has(name), toSchema(property), defs),
  )
}

/** The parts of a multipart body; a file is given by its path. */
export function partFields(parts: PartsInput = {}): readonly Field[] {
  return Object.entries(parts).map(([name, { kind, description, least }]) => ({
    name,
    location: 'part',
    kind: kind === 'file' ? 'files' : 'text',
    required: least > 0,
    nullable: false,
    description,
    isOff: false,
    choices: undefined,
  }))
}

/** The fields of a body; those that a form sends as files are given by their paths. */
export function withFiles(fields: readonly Field[], form: PartsInput = {}): readonly Field[] {
  const files = partFields(form).filter(({ kind }) => kind === 'files')
  return fields.map((field) => files.find(({ name }) => name === field.name) ?? field)
}

function readField(
  name: string,
  location: Field['location'],
  required: boolean,
  property: Schema,
  defs: Defs,
): Field {
  const forms = formsOf(property, defs)
  const values = forms.filter(({ type }) => type !== 'null')
  const [only, other] = values
  const value = other === undefined ? only : undefined
  const isBoolean = location === 'query' && isTextBoolean(value)
  return {
    name,
    location,
    kind: isBoolean ? 'flag' : kindIn(location, name, value),
    required,
    nullable: values.length < forms.length,
    description: property.description ?? value?.description ?? '',
    isOff: property.default === 'false',
    choices: isBoolean ? undefined : value?.enum?.map(String),
  }
}

/** A query only has texts: its booleans are the words. */
function isTextBoolean(value: Schema | undefined): boolean {
  const words = value?.enum ?? []
  return words.length === 2 && words.includes('true') && words.includes('false')
}

function kindIn(location: Field['location'], name: string, value: Schema | undefined): FieldKind {
  if (location === 'body' && SECRET.has(name)) return 'secret'
  const kind = kindOf(value)
  return kind === 'time' && location === 'body' && name === 'expires_at' ? 'expiry' : kind
}

/** Fields that hold credentials. */
const SECRET: ReadonlySet<string> = new Set(['password', 'key'])

const KINDS: Readonly<Record<string, FieldKind>> = {
  string: 'text',
  integer: 'integer',
  number: 'number',
  boolean: 'flag',
}

/** A value without a simple text form is given as JSON. */
function kindOf(schema: Schema | undefined): FieldKind {
  if (schema?.type === 'array') return isTextList(schema) ? 'list' : 'json'
  if (schema?.format === 'date-time') return 'time'
  return (typeof schema?.type === 'string' && KINDS[schema.type]) || 'json'
}

function isTextList({ items }: Schema): boolean {
  return typeof items === 'object' && !Array.isArray(items) && toSchema(items).type === 'string'
}

function objectForm(schema: Schema, defs: Defs): Schema | undefined {
  return formsOf(schema, defs).find(({ properties }) => properties !== undefined)
}

function formsOf(schema: Schema, defs: Defs): readonly Schema[] {
  const [, name = ''] = /^#\/\$defs\/(.+)$/.exec(schema.$ref ?? '') ?? []
  const found = defs[name] ?? schema
  // Beside properties, oneOf only says which of them go together.
  const forms = found.properties === undefined ? (found.anyOf ?? found.oneOf) : undefined
  return forms === undefined ? [found] : forms.flatMap((form) => formsOf(toSchema(form), defs))
}

/** JSON Schema writes "anything" as true. */
function toSchema(schema: Schema | boolean): Schema {
  return typeof schema === 'boolean' ? {} : schema
}
