import { defineFamily } from '../../operations/family.ts'
import { SPECIFIED_EVENTS } from './built-in.ts'
import { eventError } from './errors.ts'
import { declareType } from './operations/declare-type.ts'
import { getEvent } from './operations/get.ts'
import { listTypes } from './operations/list-types.ts'
import { listEvents } from './operations/list.ts'
import { publishEvents } from './operations/publish.ts'

/** Events: declared by accounts, published once, kept as they were sent. */
export const eventsFamily = defineFamily({
  name: 'events',
  scopes: { events: ['read', 'write'] },
  events: SPECIFIED_EVENTS,
  errors: eventError,
  operations: [publishEvents, listEvents, getEvent, declareType, listTypes],
})
