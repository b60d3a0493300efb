import { defineErrors } from '../../../lib/errors.ts'

export const portalError = defineErrors({
  invalid_portal_link: {
    status: 401,
    text: 'This link to the portal was used already, has expired or was ended. Open the portal again from where you came.',
  },
  scope_not_of_portal: {
    status: 400,
    text: 'A link to the portal takes scopes of keys and webhooks, events:read, and those of your own families.',
  },
})
