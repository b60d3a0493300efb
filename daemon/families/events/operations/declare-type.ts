import { operation } from '../../../operations/operation.ts'
import { audit } from '../../audit/note.ts'
import { SERVICE_ACCOUNT } from '../../../authority/principal.ts'
import { eventError } from '../errors.ts'
import { exampleType, toWireType, typeDeclaration, typeParams, typeRecord } from '../schema.ts'

/** Types that one account may declare. */
const MAX_TYPES = 500

export const declareType = operation({
  effect: 'write',
  id: 'events.declare_type',
  summary: 'Declare an event type; the operator without an account declares one for all accounts',
  method: 'PUT',
  path: '/v1/event-types/{type}',
  access: { scope: 'events:write', pinned: 'refused', service: true },
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
    if (platform.eventTypes.builtIn.has(type)) throw eventError('reserved_event_type')
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
