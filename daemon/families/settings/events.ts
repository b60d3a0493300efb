import { z } from 'zod'
import { IDENTIFIERS, defineEvents } from '../../events/types.ts'
import { domainRecord } from './domains/schema.ts'

const DOMAIN = {
  app_id: 'k3v9q2m7x4ta',
  domain_id: '01890a5d-ac96-774b-bcce-b302099a8070',
  hostname: 'shop.example.com',
}

const domain = { app_id: z.string(), domain_id: z.string(), hostname: domainRecord.shape.hostname }

/** Events of domains, sent to webhooks that name them. */
export const settingsEvents = defineEvents([
  {
    type: 'domain.verified',
    scope: IDENTIFIERS,
    description: 'A domain is verified and serves its app.',
    schema: z.strictObject(domain),
    sample: DOMAIN,
  },
  {
    type: 'domain.failed',
    scope: IDENTIFIERS,
    description: 'A domain was not verified for a week, or lost its records for three days.',
    schema: z.strictObject({ ...domain, error: domainRecord.shape.verification_error }),
    sample: {
      ...DOMAIN,
      error: {
        code: 'challenge_missing',
        message: 'The TXT record that proves ownership of the hostname is missing.',
      },
    },
  },
])
