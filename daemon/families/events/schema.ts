import { z } from 'zod'
import { memberSpan } from '../../../lib/internal/json-text.ts'
import { toIso } from '../../../lib/time.ts'
import { EVENT_ID, EVENT_TYPE } from '../../../lib/webhook/event.ts'
import type { EventTypeRecord, OrderedEvent } from '../../../plugins/store/contract/events.ts'
import type { EventPositions } from '../../events/positions.ts'
import { payloadSchemaOf } from '../../events/payload.ts'
import type { BuiltInEvent } from '../../events/types.ts'
import { DECLARED } from '../../events/types.ts'
import { fault } from '../../operations/faults.ts'
import { jsonText } from '../../operations/print-json.ts'
import { appId, instant, pageOf, text } from '../wire.ts'

const jsonObject = z
  .record(z.string(), z.unknown())
  .meta({ id: 'AnyObject', description: 'Any JSON object.' })

/** An object with any members. */
const anyObject = z
  .custom<object>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    fault('invalid_type', 'Must be a JSON object.'),
  )
  .meta({ type: 'object' })
const AS_JSON_OBJECT = { override: { $ref: '#/components/schemas/JsonObject' } } as const

const eventId = z
  .string()
  .regex(EVENT_ID, 'An event id is evt_ and 1 to 64 letters, digits or _.')
  .meta({ description: 'Your own id makes publishing idempotent. Default: generated.' })
export const eventType = z
  .string()
  .max(100)
  .regex(EVENT_TYPE, 'A type is 2 to 4 dotted lower-case words, such as order.paid.')

/** One event as its publisher writes it. */
export const publishedEvent = z
  .strictObject({
    type: eventType,
    /** Stored as received text. */
    data: anyObject.meta(AS_JSON_OBJECT),
    id: eventId.optional(),
    app_id: appId.optional(),
  })
  .meta({ id: 'EventToPublish' })

/** Each element is checked separately, so that an invalid one does not refuse the others. */
export const publishedBatch = z.strictObject({
  events: z
    .array(z.unknown().meta({ override: { $ref: '#/components/schemas/EventToPublish' } }))
    .min(1)
    .max(500),
})

export const acceptedEvent = z
  .strictObject({
    id: z.string(),
    type: z.string(),
    status: z
      .enum(['accepted', 'duplicate'])
      .meta({ description: 'duplicate: the same event was published before; nothing was added.' }),
  })
  .meta({ id: 'AcceptedEvent' })

const eventRefusal = z.strictObject({
  code: z.string(),
  message: z.string(),
  status: z.int(),
  errors: z.array(z.strictObject({ location: z.string(), code: z.string(), message: z.string() })),
  more_errors: z
    .literal(true)
    .optional()
    .meta({ description: 'Whether more errors are left out; a response lists 50 in all.' }),
})

const refusedEvent = z
  .strictObject({ status: z.literal('refused'), error: eventRefusal })
  .meta({ id: 'RefusedEvent' })

export const batchAnswer = z.strictObject({
  data: z.array(z.discriminatedUnion('status', [acceptedEvent, refusedEvent])),
})

/** One type for both: clients of Java take an accepted event for a refused one too. */
export const documentedBatchAnswer = z.strictObject({
  data: z.array(
    z
      .strictObject({
        status: z.enum(['accepted', 'duplicate', 'refused']),
        id: z.string().optional(),
        type: z.string().optional(),
        error: eventRefusal.optional().meta({ description: 'Of a refused event alone.' }),
      })
      .meta({ id: 'PublishedEvent' }),
  ),
})

export const publishAnswer = z.union([acceptedEvent, batchAnswer])

export type AcceptedEvent = z.input<typeof acceptedEvent>
export type RefusedEvent = z.input<typeof refusedEvent>

export const eventRecord = z
  .strictObject({
    id: z.string(),
    type: z.string(),
    app_id: z.string().nullable(),
    created_at: instant,
    position: z.string().meta({
      description:
        'Opaque feed position; pass that of your last event as after. Positions cannot be compared.',
    }),
    data: jsonObject,
  })
  .meta({ id: 'Event' })

export const eventPage = pageOf(eventRecord)

export function toWireEvent(
  event: OrderedEvent,
  positions: EventPositions,
): z.input<typeof eventRecord> {
  const body = Buffer.from(event.body).toString()
  const data = memberSpan(body, 0, 'data')
  return {
    id: event.id,
    type: event.type,
    app_id: event.app_id,
    created_at: toIso(event.created_at),
    position: positions.print(event.account_id, event.cursor),
    // A notification of A2A is an object of that protocol.
    data: jsonText(data === undefined ? body || '{}' : body.slice(data.from, data.to)),
  }
}

/** Maximum bytes of a schema, or of a sample, as JSON without white space. */
const MAX_DOCUMENT_BYTES = 16_384

const typeDocument = anyObject
  .refine(
    (value) => Buffer.byteLength(JSON.stringify(value)) <= MAX_DOCUMENT_BYTES,
    fault('too_big', 'At most 16 KiB of JSON.'),
  )
  .meta(AS_JSON_OBJECT)
  .nullable()
  .optional()

export const typeParams = z.strictObject({ type: eventType })

export const typeDeclaration = z
  .strictObject({
    description: text(500).nullable().optional(),
    schema: typeDocument.meta({
      description: 'A JSON Schema of data, kept as documentation: at most 16 KiB of JSON.',
    }),
    sample: typeDocument.meta({ description: 'An example of data: at most 16 KiB of JSON.' }),
  })
  .optional()

export const typeRecord = z
  .strictObject({
    type: z.string(),
    description: z.string().nullable(),
    schema: jsonObject.nullable(),
    sample: jsonObject.nullable(),
    scope: z.string().meta({ description: 'Scope required to receive its events.' }),
    built_in: z.boolean().meta({ description: 'Whether the service publishes it.' }),
    created_at: instant.nullable(),
    updated_at: instant.nullable(),
  })
  .meta({ id: 'EventType' })

const FULL_ONLY = { schema: true, sample: true, created_at: true, updated_at: true } as const

export const typePage = pageOf(
  typeRecord.partial(FULL_ONLY).meta({
    id: 'ListedEventType',
    description: 'schema, sample and instants are missing with fields=names alone.',
  }),
)

/** What `fields=names` lists of a type. */
export function toWireName(one: EventTypeRecord | BuiltInEvent) {
  const { type, description } = one
  const isBuiltIn = 'scope' in one
  return { type, description, scope: isBuiltIn ? one.scope : DECLARED, built_in: isBuiltIn }
}

export function toWireType(record: EventTypeRecord): z.input<typeof typeRecord> {
  return {
    type: record.type,
    description: record.description,
    schema: record.schema === null ? null : jsonText(record.schema),
    sample: record.sample === null ? null : jsonText(record.sample),
    scope: DECLARED,
    built_in: false,
    created_at: toIso(record.created_at),
    updated_at: toIso(record.updated_at),
  }
}

export function toWireBuiltIn(event: BuiltInEvent): z.input<typeof typeRecord> {
  return {
    type: event.type,
    description: event.description,
    schema: payloadSchemaOf(event) ?? null,
    sample: { ...event.sample },
    scope: event.scope,
    built_in: true,
    created_at: null,
    updated_at: null,
  }
}

export const exampleEvent = {
  id: 'evt_01k7zq4w3mx5t8v2c6b9n1d0fh',
  type: 'order.paid',
  app_id: null,
  created_at: '2026-01-31T12:00:00.000Z',
  position:
    'pos_0cox1Twq_XykyTReUtMgxIvwbIMSbKWOnoSUAtGxw6778suqWgSV7-76kVW-UbsYNI9pcTvCP6-WzjXFzLUnJA',
  data: { order_id: 'o_42', amount: 1999 },
} as const

export const exampleType = {
  type: 'order.paid',
  description: 'An order was paid in full.',
  schema: null,
  sample: { order_id: 'o_42', amount: 1999 },
  scope: DECLARED,
  built_in: false,
  created_at: '2026-01-31T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:00.000Z',
} as const
