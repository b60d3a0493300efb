import { defineErrors } from '../../../lib/errors.ts'

export const webhookError = defineErrors({
  webhook_not_found: { status: 404, text: 'No webhook with this id is visible to you.' },
  delivery_not_found: {
    status: 404,
    text: 'No delivery with this id, of this webhook, is visible to you.',
  },
  unknown_event_type: {
    status: 400,
    text: 'A webhook names event types of the service, or declared ones. Declare a type with KEYHOOK_EVENT_TYPES (eventTypes when embedded), `keyhook event declare` or PUT /v1/event-types/{type}.',
  },
  unknown_destination: {
    status: 400,
    text: 'A webhook names https, or a destination that the operator declares with KEYHOOK_DESTINATIONS (destinations when embedded) or a plugin, such as rabbitmq:orders.',
  },
  webhook_limit_reached: {
    status: 409,
    text: 'The account has reached its limit of webhooks. Delete one first.',
  },
  secret_limit_reached: {
    status: 409,
    text: 'The webhook has reached its limit of signing secrets. Wait until one ends, or rotate with overlap_seconds 0.',
  },
  delivery_in_progress: {
    status: 409,
    text: 'The delivery is pending or in progress. It can be retried once it has ended.',
  },
  retry_limit_reached: {
    status: 409,
    text: 'The delivery has had 100 attempts, the maximum. Publish the event again.',
  },
  webhook_disabled: {
    status: 409,
    text: 'The webhook is disabled. Set its status to active first.',
  },
})
