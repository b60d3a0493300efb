import { defineErrors } from '../../../lib/errors.ts'

export const settingsError = defineErrors({
  domain_not_found: { status: 404, text: 'The app has no domain with this id.' },
  service_not_found: { status: 404, text: 'The app has no service of this name.' },
  invalid_hostname: {
    status: 400,
    text: 'A hostname is labels of letters, digits and hyphens with dots between them, such as shop.example.com.',
  },
  reserved_hostname: {
    status: 400,
    text: 'An app cannot have this hostname. Use one of your own domain.',
  },
  domain_in_use: {
    status: 409,
    text: 'This hostname is verified for an app, or this app has it already.',
  },
  domain_not_verified: {
    status: 409,
    text: 'Only a domain that is verified can be the primary one. Set its records first.',
  },
  domain_limit_reached: {
    status: 409,
    text: 'The app has reached its limit of domains. Delete one first.',
  },
  service_limit_reached: {
    status: 409,
    text: 'The app has reached its limit of services, or the service its limit of secrets. Delete some first.',
  },
})
