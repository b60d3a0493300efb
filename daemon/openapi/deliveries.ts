import { z } from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, createDocument } from 'zod-openapi'
import { allowMore } from '../events/payload.ts'
import type { BuiltInEvent } from '../events/types.ts'
import { eventsByType } from '../events/types.ts'
import { instant } from '../operations/instants.ts'
import type { Family } from '../operations/family.ts'
import { componentName, named } from './components.ts'

type JsonSchema = Readonly<Record<string, unknown>>

/** What a receiver gets: one delivery of each event type, under the name of the type. */
export function describeDeliveries(families: readonly Family[]): ZodOpenApiPathsObject {
  const events = eventsOf(families)
  return Object.fromEntries(events.map((event) => [event.type, { post: describeDelivery(event) }]))
}

function eventsOf(families: readonly Family[]): readonly BuiltInEvent[] {
  return [...eventsByType(families.flatMap(({ events }) => events)).values()]
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

function bodyOf({ type, schema, sample }: BuiltInEvent): z.ZodType {
  const data = schema ?? z.unknown().meta({ override: schemaOf(sample) })
  const body = z.object({
    id: z.string().meta({ description: 'The same for every delivery of the event.' }),
    type: z.literal(type),
    created_at: instant,
    data: named(data, { id: type }, 'Data'),
  })
  return named(body, { id: type }, 'Event')
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

type Document = ReturnType<typeof createDocument>

/** Lets the data of events have members that later versions add; records that operations return too stay exact. */
export function openDeliveries(document: Document, families: readonly Family[]): Document {
  const { schemas = {}, ...components } = document.components ?? {}
  const own = new Set(eventsOf(families).map(({ type }) => componentName(type, 'Data')))
  const opened = Object.entries(schemas).map(
    ([name, schema]) => [name, own.has(name) ? allowMore(schema) : schema] as const,
  )
  return { ...document, components: { ...components, schemas: Object.fromEntries(opened) } }
}
