import { IDENTIFIERS, defineEvents } from '../../events/types.ts'

const DOMAIN = {
  app_id: 'k3v9q2m7x4ta',
  domain_id: '01890a5d-ac96-774b-bcce-b302099a8070',
  hostname: 'shop.example.com',
}

/** Events of domains, sent to webhooks that name them. */
export const settingsEvents = defineEvents([
  {
    type: 'domain.verified',
    scope: IDENTIFIERS,
    description: 'A domain is verified and serves its app.',
    sample: DOMAIN,
  },
  {
    type: 'domain.failed',
    scope: IDENTIFIERS,
    description: 'A domain was not verified for a week, or lost its records for three days.',
    sample: {
      ...DOMAIN,
      error: {
        code: 'challenge_missing',
        message: 'The TXT record that proves ownership of the hostname is missing.',
      },
    },
  },
])
