import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Schema as DocumentedSchema } from '../../daemon/docs/api-document.ts'
import { FAMILIES, errorRows } from '../../daemon/families/index.ts'
import { describeApi } from '../../daemon/openapi/document.ts'
import type { ReadEvent } from './declared-events.ts'
import { faultsOfData } from './declared-events.ts'

/** As much of JSON Schema as the document uses. */
export interface Schema extends DocumentedSchema {
  readonly example?: unknown
  readonly pattern?: string
  readonly additionalProperties?: boolean | Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
}

interface Content {
  readonly content?: {
    readonly 'application/json'?: { readonly schema: Schema; readonly example?: unknown }
    readonly 'multipart/form-data'?: { readonly schema: Schema }
    readonly 'application/octet-stream'?: { readonly schema: Schema }
    readonly 'text/event-stream'?: { readonly schema: Schema }
  }
}

interface Parameter {
  readonly in: 'path' | 'query' | 'header'
  readonly name: string
  readonly required?: boolean
  readonly schema: Schema
}

interface PathItemOperation {
  readonly operationId?: string
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content & { readonly required?: boolean }
  readonly responses: Readonly<Record<string, Content & { readonly description: string }>>
}

export interface DocumentedOperation extends PathItemOperation {
  /** Empty when the document does not say. */
  readonly operationId: string
  /** In capitals. */
  readonly method: string
  readonly path: string
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, PathItemOperation>>>>
}

/** The document as it is served. */
export const DOCUMENT_TEXT: string = JSON.stringify(
  describeApi(FAMILIES, errorRows(FAMILIES), 'http://127.0.0.1:8420'),
)
const document = JSON.parse(DOCUMENT_TEXT) as OpenApi

export const DOCUMENTED: readonly DocumentedOperation[] = Object.entries(document.paths).flatMap(
  ([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      ...operation,
      operationId: operation.operationId ?? '',
      method: method.toUpperCase(),
      path,
    })),
)

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/
const ajv = new Ajv2020({
  strict: false,
  formats: { 'date-time': RFC_3339, date: /^\d{4}-\d\d-\d\d$/ },
})
ajv.addSchema(document, 'api')

/** What is wrong with a value by the schema at a place of the document; empty when nothing is. */
export function faultsOf(value: unknown, ...place: readonly string[]): readonly string[] {
  const pointer = place.map((step) =>
    encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')),
  )
  const $ref = `api#/${pointer.join('/')}`
  const validate = ajv.getSchema($ref)
  if (validate === undefined) return [`no schema at ${$ref}`]
  if (validate(value) === true) return []
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

/** What is wrong with an answer by what the operation documents for its status. */
export function faultsOfAnswer(
  { path, method, responses }: DocumentedOperation,
  status: number,
  body: unknown,
): readonly string[] {
  if (responses[status]?.content === undefined) return [`status ${status} is not documented`]
  return faultsOf(body, ...placeOfAnswer(path, method, String(status)), 'schema')
}

function placeOfAnswer(path: string, method: string, status: string): readonly string[] {
  const operation = ['paths', path, method.toLowerCase()]
  return [...operation, 'responses', status, 'content', 'application/json']
}

export function placeOfBody({ path, method }: DocumentedOperation): readonly string[] {
  return ['paths', path, method.toLowerCase(), 'requestBody', 'content', 'application/json']
}

/** A schema with its reference followed. */
export function resolveSchema(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema
  const steps = schema.$ref.slice('#/'.length).split('/')
  return steps.reduce<unknown>(
    (at, step) => (at as Readonly<Record<string, unknown>>)[step],
    document,
  ) as Schema
}

/** The body of an operation's example. */
export function exampleBody(method: string, path: string): Readonly<Record<string, unknown>> {
  const operation = DOCUMENTED.find((one) => one.method === method && one.path === path)
  const example = operation?.requestBody?.content?.['application/json']?.example
  return { ...(example as object | undefined) }
}

/** The envelope of an event whose type and data alone are known. */
const ENVELOPE = { id: 'evt_1', created_at: '2026-01-31T12:00:00.000Z' }

/** What is wrong with an event of the service by the declared schema of its data, and by the document. */
export function faultsOfEvent(event: ReadEvent): readonly string[] {
  const place = ['webhooks', event.type, 'post', 'requestBody', 'content', 'application/json']
  return [...faultsOfData(event), ...faultsOf({ ...ENVELOPE, ...event }, ...place, 'schema')]
}
