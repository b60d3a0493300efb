import { defineFamily } from '../../operations/family.ts'
import { eventError } from './errors.ts'
import { declareType, listTypes } from './operations/types.ts'
import { explainEvent } from './operations/explain.ts'
import { getEvent, listEvents } from './operations/read.ts'
import { publishBatch, publishEvents } from './operations/publish.ts'

/** Events: declared by accounts, published once, stored byte for byte. */
export const eventsFamily = defineFamily({
  name: 'events',
  scopes: { events: ['read', 'write'] },
  events: [],
  errors: eventError,
  operations: [
    publishEvents,
    publishBatch,
    listEvents,
    getEvent,
    explainEvent,
    declareType,
    listTypes,
  ],
})
