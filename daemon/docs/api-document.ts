/**
 * The OpenAPI document as the reference reads it: what it shows, and nothing else.
 *
 * @module
 */

export interface ApiDocument {
  readonly info: { readonly title: string; readonly description?: string }
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

export interface ApiOperation {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  /** Each is enough; none: for everyone. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, Response>>
}

export interface Parameter {
  readonly in: string
  readonly name: string
  readonly required?: boolean
  readonly schema: Schema
}

interface Response {
  /** Of a refusal: its codes, comma separated. */
  readonly description: string
  readonly content?: Content
}

interface Content {
  readonly 'application/json'?: { readonly schema: Schema; readonly example?: unknown }
  readonly 'multipart/form-data'?: { readonly schema: Schema }
}

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly minimum?: number
  readonly maximum?: number
}

/** An operation with its place. */
export interface Placed extends ApiOperation {
  readonly method: string
  readonly path: string
}

/** Every operation, in the document's order. */
export function operationsOf({ paths }: ApiDocument): readonly Placed[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, one]) => ({ ...one, path, method: method.toUpperCase() })),
  )
}

/** The objects that a value may be: of several forms each, of a record itself. */
export function formsOf(schema: Schema, document: ApiDocument): readonly Schema[] {
  const found = document.components.schemas[recordOf(schema) ?? ''] ?? schema
  const forms = found.anyOf ?? found.oneOf
  if (forms !== undefined) return forms.flatMap((form) => formsOf(form, document))
  return found.properties === undefined ? [] : [found]
}

/** The name of the record that a schema refers to. */
export function recordOf({ $ref = '' }: Schema): string | undefined {
  return /^#\/components\/schemas\/(.+)$/.exec($ref)?.[1]
}
