import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi'
import type { Family } from '../operations/family.ts'
import type { BuiltInEvent } from '../events/types.ts'

type JsonSchema = Readonly<Record<string, unknown>>

/** What a receiver gets: one delivery of each event type, under the name of the type. */
export function describeDeliveries(families: readonly Family[]): ZodOpenApiPathsObject {
  const types = families.flatMap(({ events }) => events)
  return Object.fromEntries(types.map((one) => [one.type, { post: describeDelivery(one) }]))
}

function describeDelivery({ type, description, sample }: BuiltInEvent): ZodOpenApiOperationObject {
  const name = type.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return {
    operationId: `${type}.delivery`,
    summary: description,
    // The signature of a delivery tells who sent it.
    security: [],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: { ...envelopeOf(type, schemaOf(sample)), title: `${name.join('')}Event` },
        },
      },
    },
    responses: {
      '204': { description: 'Received. Any status from 200 to 299 ends the delivery.' },
    },
  }
}

const TEXT = { type: 'string' } as const

function envelopeOf(type: string, data: JsonSchema): JsonSchema {
  return {
    type: 'object',
    properties: {
      id: { ...TEXT, description: 'The same for every delivery of the event.' },
      type: { ...TEXT, const: type },
      created_at: { ...TEXT, format: 'date-time' },
      data,
    },
    required: ['id', 'type', 'created_at', 'data'],
  }
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
