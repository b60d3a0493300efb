import { z } from 'zod'
import type {
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
  ZodOpenApiResponseObject,
  ZodOpenApiResponsesObject,
  ZodOpenApiComponentsObject,
} from 'zod-openapi'
import { createDocument } from 'zod-openapi'
import type { Family } from '../operations/family.ts'
import type { Operation, Quote } from '../operations/operation.ts'
import type { ErrorRows } from './components.ts'
import { errorSchema, named } from './components.ts'
import { describeDeliveries, openDeliveries } from './deliveries.ts'
import { describeStreams } from './event-stream.ts'
import { parametersOf } from './parameters.ts'
import { FILE_SCHEMA, partsEncoding, partsSchema } from './parts.ts'
import { sharedErrors } from './shared-errors.ts'
import { simplify } from './simplify.ts'

export type OpenApiDocument = ReturnType<typeof createDocument>

/** Builds the OpenAPI document of these families; nothing in it is written by hand. */
export function describeApi(
  families: readonly Family[],
  rows: ErrorRows,
  baseUrl: string,
): OpenApiDocument {
  const operations = families.flatMap((family) =>
    family.operations.map((operation) => ({ family, operation })),
  )
  const refusals: Refusals = { rows, schema: errorSchema(rows) }
  const paths: ZodOpenApiPathsObject = {}
  for (const { family, operation } of operations) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describe(family, operation, refusals),
    }
  }
  const document = createDocument({
    openapi: '3.1.1',
    info: {
      title: 'Keyhook',
      version: '1',
      description: 'Developer keys and webhooks.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    tags: families.map((family) => ({
      name: family.name,
      description: describeFamily(family),
    })),
    paths,
    webhooks: describeDeliveries(families),
    components: {
      schemas: JSON_SCHEMAS,
      securitySchemes: {
        developerKey: { type: 'http', scheme: 'bearer', description: 'A developer key.' },
        operator: { type: 'http', scheme: 'bearer', description: "The operator's token." },
        session: { type: 'apiKey', in: 'cookie', name: 'keyhook' },
        portal: { type: 'http', scheme: 'bearer', description: 'A session of the portal.' },
      },
    },
  })
  return simplify(openDeliveries(describeStreams(document)))
}

function describeFamily({ scopes, events }: Family): string {
  const names = Object.entries(scopes).flatMap(([family, actions]) =>
    actions.map((action) => `${family}:${action}`),
  )
  const types = events.map(({ type }) => type)
  return [
    names.length === 0 ? 'No scopes of its own.' : `Scopes: ${names.join(', ')}.`,
    ...(types.length === 0 ? [] : [`Events: ${types.join(', ')}.`]),
  ].join(' ')
}

/** What refusals look like, and their codes. */
interface Refusals {
  readonly rows: ErrorRows
  readonly schema: z.ZodType
}

function describe(
  family: Family,
  operation: Operation,
  refusals: Refusals,
): ZodOpenApiOperationObject {
  return {
    operationId: operation.id,
    summary: operation.summary,
    tags: [family.name],
    security: securityOf(operation),
    requestParams: parametersOf(operation),
    ...requestBodyOf(operation),
    responses: responsesOf(operation, refusals),
  }
}

function requestBodyOf(operation: Operation): Pick<ZodOpenApiOperationObject, 'requestBody'> {
  const { example, input, documented } = operation
  const { parts, form } = input
  const body = documented?.body ?? input.body
  const multipart = parts ?? form?.parts
  const inParts =
    multipart === undefined
      ? {}
      : {
          'multipart/form-data': {
            schema: named(partsSchema(multipart, body), operation, 'Form'),
            encoding: partsEncoding(multipart),
          },
        }
  if (parts !== undefined) return { requestBody: { required: true, content: inParts } }
  if (body === undefined) return {}
  const json = {
    schema: named(body, operation, 'Request'),
    ...(example.body === undefined ? {} : { example: example.body }),
  }
  const required = !body.safeParse(undefined).success
  return { requestBody: { required, content: { 'application/json': json, ...inParts } } }
}

function responsesOf(
  operation: Operation,
  { rows, schema: refusal }: Refusals,
): ZodOpenApiResponsesObject {
  const byStatus = new Map<number, string[]>()
  const codes = [...sharedErrors(operation), ...operation.errors]
  for (const code of new Set(codes)) {
    const status = rows[code]?.status
    if (status === undefined)
      throw new TypeError(`${operation.id} declares an unknown code ${code}`)
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const { example, summary } = operation
  const output = outputOf(operation)
  const responses: ZodOpenApiResponsesObject = {
    ...(operation.quote === undefined ? {} : quoteOf(summary, operation.quote)),
    [`${operation.status ?? 200}`]: {
      description: summary,
      content: contentOf(operation, output),
      ...successHeaders(operation),
    },
    ...(operation.effect === 'bytes' ? partsOfFiles(operation) : {}),
    ...(operation.cache === undefined ? {} : NOT_MODIFIED),
  }
  if (operation.accepted !== undefined) {
    responses['202'] = {
      description: `${summary}: still to be carried out`,
      content: {
        'application/json': { schema: output, example: example.accepted ?? example.response },
      },
      ...watchHeaders(operation),
    }
  }
  for (const [status, codes] of byStatus) {
    responses[`${status}` as '400'] = {
      description: codes.join(', '),
      content: { 'application/json': { schema: refusal } },
    }
  }
  return responses
}

function successHeaders(operation: Operation): Pick<ZodOpenApiResponseObject, 'headers'> {
  if (operation.status === 202) return watchHeaders(operation)
  if (operation.cache !== undefined) return { headers: CACHE_HEADERS }
  return operation.csv === undefined ? {} : { headers: { Link: NEXT_PAGE } }
}

const NEXT_PAGE = {
  description: 'With format=csv: address of the next page, rel="next".',
  schema: { type: 'string' },
} as const

const CACHE_HEADERS = {
  ETag: { description: 'For If-None-Match.', schema: { type: 'string' } },
  'Cache-Control': {
    description: 'How long any cache may keep the response.',
    schema: { type: 'string' },
  },
} as const

function quoteOf(summary: string, { output, example }: Quote): ZodOpenApiResponsesObject {
  return {
    '200': {
      description: `${summary}: only its price, with dry_run=true`,
      content: { 'application/json': { schema: output, example } },
    },
  }
}

/** Headers that say where to look again, and when. */
function watchHeaders({ watch }: Operation): Pick<ZodOpenApiResponseObject, 'headers'> {
  if (watch === undefined) return {}
  return {
    headers: {
      Location: {
        description: 'Address of the record with the progress.',
        schema: { type: 'string' },
      },
      'Retry-After': {
        description: 'Seconds until progress is expected.',
        schema: { type: 'integer' },
      },
    },
  }
}

/** Responses of a file besides the whole of it. */
function partsOfFiles(operation: Operation): ZodOpenApiResponsesObject {
  return {
    '206': { description: 'The requested range', content: contentOf(operation, operation.output) },
    ...NOT_MODIFIED,
  }
}

const NOT_MODIFIED: ZodOpenApiResponsesObject = { '304': { description: 'Not modified' } }

function outputOf(operation: Operation): z.ZodType {
  const output = operation.documented?.output ?? operation.output
  const isPage = output instanceof z.ZodObject && 'has_more' in output.shape
  return named(output, operation, isPage ? 'Page' : 'Result')
}

function contentOf(
  operation: Operation,
  output: z.ZodType,
): NonNullable<ZodOpenApiResponseObject['content']> {
  const { effect, example, csv } = operation
  if (effect === 'bytes') return { 'application/octet-stream': { schema: FILE_SCHEMA } }
  // The data of one event, until `describeStreams` adds the event around it.
  if (effect === 'stream') return { 'text/event-stream': { schema: operation.output } }
  return {
    'application/json': { schema: output, example: example.response },
    ...(csv === undefined
      ? {}
      : {
          'text/csv': {
            schema: { type: 'string', description: `Columns: ${csv.columns.join(', ')}.` },
          },
        }),
  }
}

function securityOf({ access }: Operation): Record<string, string[]>[] {
  if (access === 'public') return []
  if (access === 'key') return [{ developerKey: [] }]
  if (access === 'user') return [{ session: [] }]
  if (access === 'operator') return [{ operator: [] }]
  if (access === 'owner') return [{ session: [] }, { operator: [] }]
  if (access === 'portal') return [{ portal: [] }]
  const portal = access.portal === true ? [{ portal: [] }] : []
  return [{ developerKey: [access.scope] }, { session: [] }, { operator: [] }, ...portal]
}

/** Any JSON that the body parser accepts, except its depth limit. */
const TEXT = '^[^\\u0000]*$'

/** Its constraints are below two negations, since generators of clients skip `not`, and have one type for it. */
const JSON_SCHEMAS: NonNullable<ZodOpenApiComponentsObject['schemas']> = {
  JsonObject: {
    type: 'object',
    description: 'Any JSON object. Strings do not contain U+0000.',
    propertyNames: { pattern: TEXT, not: { const: '__proto__' } },
    additionalProperties: true,
    not: { not: { additionalProperties: { $ref: '#/components/schemas/JsonValue' } } },
  },
  JsonValue: {
    description: 'Any JSON value. Strings do not contain U+0000.',
    not: {
      not: {
        anyOf: [
          { type: ['null', 'boolean', 'number'] },
          { type: 'string', pattern: TEXT },
          { type: 'array', items: { $ref: '#/components/schemas/JsonValue' } },
          { $ref: '#/components/schemas/JsonObject' },
        ],
      },
    },
  },
}
