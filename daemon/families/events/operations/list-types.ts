import { z } from 'zod'
import { readOperation } from '../../../family.ts'
import { SERVICE_ACCOUNT } from '../../../principal.ts'
import { exampleType, toWireType, typeRecord } from '../schema.ts'

export const listTypes = readOperation({
  id: 'events.list_types',
  summary: 'List the types of event that webhooks may name',
  method: 'GET',
  path: '/v1/event-types',
  access: { scope: 'events:read', pinned: 'refused', service: true },
  emits: ['events'],
  input: {},
  output: z.strictObject({ data: z.array(typeRecord) }),
  errors: [],
  example: { response: { data: [exampleType] } },
  command: 'event types',
  async run({ platform, principal }) {
    const known = await platform.store.events.types(principal.account_id ?? SERVICE_ACCOUNT)
    const own = known.filter(({ type }) => !platform.eventTypes.builtIn.has(type))
    const builtIn = [...platform.eventTypes.builtIn.values()].map(
      ({ type, scope, description, sample }) => ({
        type,
        description,
        schema: null,
        sample: { ...sample },
        scope,
        built_in: true,
        created_at: null,
        updated_at: null,
      }),
    )
    return { data: [...own.map(toWireType), ...builtIn] }
  },
})
