import { defineErrors } from '../../../lib/errors.ts'

export const eventError = defineErrors({
  event_not_found: { status: 404, text: 'No event with this id is visible to you.' },
  undeclared_event_type: {
    status: 400,
    text: 'Declare the type first: PUT /v1/event-types/{type}.',
  },
  reserved_event_type: {
    status: 400,
    text: 'This type is published by the service itself. Choose a name of your own.',
  },
  event_id_conflict: {
    status: 409,
    text: 'An event with this id and other content was published before.',
  },
  too_many_deliveries: {
    status: 413,
    text: 'The events of one request make at most 1,000 deliveries. Publish the rest in another request.',
  },
  event_type_limit_reached: {
    status: 409,
    text: 'The account has reached its limit of declared event types.',
  },
})
