import { z } from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi'
import { allowMore } from '../events/payload.ts'
import type { BuiltInEvent } from '../events/types.ts'
import { eventsByType } from '../events/types.ts'
import { instant } from '../operations/instants.ts'
import type { Family } from '../operations/family.ts'
import { componentName } from './components.ts'

type JsonSchema = Readonly<Record<string, unknown>>

/** What a receiver gets: one delivery of each event type, under the name of the type. */
export function describeDeliveries(families: readonly Family[]): ZodOpenApiPathsObject {
  const events = eventsByType(families.flatMap((family) => family.events))
  return Object.fromEntries(
    [...events].map(([type, event]) => [type, { post: describeDelivery(event) }]),
  )
}

function describeDelivery(event: BuiltInEvent): ZodOpenApiOperationObject {
  return {
    operationId: `${event.type}.delivery`,
    summary: event.description,
    // The signature of a delivery tells who sent it.
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema: bodyOf(event) } } },
    responses: {
      '204': { description: 'Received. Any status from 200 to 299 ends the delivery.' },
    },
  }
}

/** It has a title and is no component: oapi-codegen drops components that only webhooks refer to, and does not compile. */
function bodyOf({ type, schema, sample }: BuiltInEvent): z.ZodType {
  const data = schema ?? z.unknown().meta({ override: schemaOf(sample) })
  const known = data.meta()
  const title = componentName(type, 'Data')
  return z
    .object({
      id: z.string().meta({ description: 'The same for every delivery of the event.' }),
      type: z.literal(type),
      created_at: instant,
      data: known?.id === undefined ? data.meta({ ...known, title }) : data,
    })
    .meta({ title: componentName(type, 'Event') })
}

/** The schema of a sample, which shows a value where others may have null, and may lack a member. */
function schemaOf(sample: unknown): JsonSchema {
  if (typeof sample === 'string') return { type: ['string', 'null'] }
  if (typeof sample === 'boolean') return { type: ['boolean', 'null'] }
  if (typeof sample === 'number') return { type: ['integer', 'null'], format: 'int64' }
  if (Array.isArray(sample)) return { type: 'array', items: schemaOf(sample[0]) }
  if (typeof sample !== 'object' || sample === null) return {}
  const members = Object.entries(sample).map(([name, value]) => [name, schemaOf(value)] as const)
  return { type: 'object', properties: Object.fromEntries(members) }
}

interface Described {
  readonly webhooks?: object
  readonly components?: { readonly schemas?: Readonly<Record<string, unknown>> }
}

/** Lets the data of events have members that later versions add; records that operations return too stay exact. */
export function openDeliveries<Document extends Described>(document: Document): Document {
  const { webhooks, components } = document
  return { ...document, webhooks: allowMore(inlined(webhooks, components?.schemas ?? {}, [])) }
}

const REFERENCE = /^#\/components\/schemas\/(.+)$/

/** Copies what is referred to; what refers to itself stays a reference inside its copy. */
function inlined(
  value: unknown,
  schemas: Readonly<Record<string, unknown>>,
  within: readonly string[],
): unknown {
  if (Array.isArray(value)) return value.map((one) => inlined(one, schemas, within))
  if (typeof value !== 'object' || value === null) return value
  const { $ref, ...others } = value as Readonly<Record<string, unknown>>
  const name = typeof $ref === 'string' ? REFERENCE.exec($ref)?.[1] : undefined
  if (name !== undefined && !within.includes(name) && Object.hasOwn(schemas, name)) {
    const schema = inlined(schemas[name], schemas, [...within, name])
    return { ...(schema as object), ...others }
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, inlined(one, schemas, within)]),
  )
}
