import { z } from 'zod'
import type { EventTypeRecord } from '../../../../plugins/store/contract/events.ts'
import type { Page, PageQuery } from '../../../../plugins/store/contract/page.ts'
import type { BuiltInEvent, EventTypes } from '../../../events/types.ts'
import { operation } from '../../../operations/operation.ts'
import { SERVICE_ACCOUNT } from '../../../authority/principal.ts'
import { listPage } from '../../cursor.ts'
import { pageQuery } from '../../wire.ts'
import { audit } from '../../audit/note.ts'
import {
  exampleType,
  toWireBuiltIn,
  toWireName,
  toWireType,
  typePage,
  typeDeclaration,
  typeParams,
  typeRecord,
} from '../schema.ts'
import { eventError } from '../errors.ts'

export const listTypes = operation({
  effect: 'read',
  id: 'events.list_types',
  summary: 'List the event types that webhooks may name, by name',
  method: 'GET',
  path: '/v1/event-types',
  access: { scope: 'events:read', pinned: 'refused', service: true, portal: true },
  agent: { toolset: 'events' },
  emits: ['events'],
  input: {
    query: z.strictObject({
      ...pageQuery,
      fields: z.enum(['all', 'names']).optional().meta({
        description: 'names: only type, description, scope and built_in. Default all.',
      }),
    }),
  },
  output: typePage,
  errors: ['invalid_cursor'],
  example: { response: { data: [exampleType], has_more: false, next_cursor: null } },
  command: 'event types',
  async run(call) {
    const { store, eventTypes } = call.platform
    const account_id = call.principal.account_id ?? SERVICE_ACCOUNT
    const documents = call.query.fields !== 'names'
    return listPage(call, {
      list: { list: 'event-types', account_id },
      async read(range) {
        const declared = await store.events.types({ account_id, documents, ...range })
        return addBuiltIn(declared, eventTypes, range)
      },
      cursorOf: ({ type }) => type,
      show: () => (documents ? toWireAny : toWireName),
    })
  },
})

function toWireAny(one: EventTypeRecord | BuiltInEvent): z.input<typeof typeRecord> {
  return 'scope' in one ? toWireBuiltIn(one) : toWireType(one)
}

/**
 * Adds built-in types to a page of declared ones. A declared type that a later release publishes itself
 * belongs to the service.
 */
function addBuiltIn(
  { rows, more }: Page<EventTypeRecord>,
  { builtIn }: Pick<EventTypes, 'builtIn'>,
  { limit, after }: PageQuery,
): Page<EventTypeRecord | BuiltInEvent> {
  const end = more ? rows.at(-1)?.type : undefined
  const listed = new Map<string, EventTypeRecord | BuiltInEvent>()
  for (const row of rows) listed.set(row.type, row)
  for (const [type, event] of builtIn) {
    if ((after === null || type > after) && (end === undefined || type <= end)) {
      listed.set(type, event)
    }
  }
  const all = [...listed.values()].sort((a, b) => (a.type < b.type ? -1 : 1))
  return { rows: all.slice(0, limit), more: more || all.length > limit }
}

/** Maximum declared types of an account. */
const MAX_TYPES = 500

export const declareType = operation({
  effect: 'write',
  id: 'events.declare_type',
  summary: 'Declare an event type; the operator without an account declares one for all accounts',
  method: 'PUT',
  path: '/v1/event-types/{type}',
  access: { scope: 'events:write', pinned: 'refused', service: true },
  agent: { toolset: 'events' },
  emits: ['events'],
  input: { params: typeParams, body: typeDeclaration },
  output: typeRecord,
  errors: ['reserved_event_type', 'event_type_limit_reached'],
  example: {
    params: { type: exampleType.type },
    body: { description: exampleType.description, sample: exampleType.sample },
    response: exampleType,
  },
  command: 'event declare',
  async run(call) {
    const { platform, principal, tx, params, body, now } = call
    const account_id = principal.account_id ?? SERVICE_ACCOUNT
    const { type } = params
    if (platform.eventTypes.isReserved(type)) throw eventError('reserved_event_type')
    const declared = {
      account_id,
      type,
      description: body?.description ?? null,
      schema: print(body?.schema),
      sample: print(body?.sample),
      created_at: now,
      updated_at: now,
    }
    const kept = await tx.events.putType(declared, MAX_TYPES)
    if (kept === undefined) throw eventError('event_type_limit_reached')
    await audit(call, {
      account_id,
      action: 'event_type.declared',
      target_type: 'event_type',
      target_id: type,
    })
    return toWireType(kept)
  },
})

function print(value: object | null | undefined): string | null {
  return value ? JSON.stringify(value) : null
}
