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
    text: 'This is no hostname that an app can have. Give one of a domain of your own.',
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
    text: 'The app has as many domains as it may. Delete one first.',
  },
  service_limit_reached: {
    status: 409,
    text: 'The app has as many services as it may, or the service as many secrets. Delete some first.',
  },
})
