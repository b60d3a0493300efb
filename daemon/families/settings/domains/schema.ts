import { z } from 'zod'
import { toIso } from '../../../../lib/time.ts'
import type { DomainRecord } from '../../../../plugins/platform/contract/domains.ts'
import { DOMAIN_STATUSES } from '../../../../plugins/platform/contract/domains.ts'
import type { Platform } from '../../../platform.ts'
import { exampleApp } from '../../apps/schema.ts'
import { BLANK, creator, instant, isoOrNull, NUL, pageOf, plainText } from '../../wire.ts'
import { describeFault } from './faults.ts'
import { wantedRecords } from './records.ts'

export const domainParams = z.strictObject({ app_id: plainText, domain_id: plainText })

/** No character that ends or escapes the host of a URL, and no wildcard. */
const NO_SEPARATOR = new RegExp(`^[^${BLANK}/\\\\:?#@%[\\]*${NUL}]+$`)

/** Of ASCII, only letters, digits, hyphens and dots; IDNA checks all other characters. */
const NO_SYMBOL = `^[^${BLANK}\\u0000-,/:-@[-\`{-\\u009f]+$`

/** Checked as a hostname once the app was found; that check says more than a pattern. */
export const domainCreation = z.strictObject({
  hostname: z.string().min(1).max(300).regex(NO_SEPARATOR, 'Must be a hostname.').meta({
    pattern: NO_SYMBOL,
    description: 'Hostname of your own; Unicode is accepted.',
    example: 'shop.example.com',
  }),
})

export const domainChanges = z.strictObject({
  primary: z.boolean().meta({
    description: "Whether it is the app's primary hostname.",
  }),
})

const record = z.strictObject({
  type: z.enum(['TXT', 'CNAME']),
  name: z.string(),
  value: z.string(),
  verified: z.boolean().meta({ description: 'Whether the last check found it.' }),
})

export const domainRecord = z
  .strictObject({
    id: z.string(),
    domain_id: z.string().meta({ description: 'Same as id.' }),
    app_id: z.string(),
    hostname: z.string(),
    status: z.enum(DOMAIN_STATUSES).meta({
      description:
        'pending: none of its records was found; verifying: one was; verified: it leads to the ' +
        'app; failed: looked at again only when asked to.',
    }),
    records: z.array(record).meta({
      description:
        "DNS records to set. Address records of the CNAME's target are accepted in its place.",
    }),
    verification_error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
    tls: z
      .literal('proxy')
      .meta({ description: 'TLS: proxy, with certificates of the proxy in front.' }),
    primary: z.boolean(),
    created_by: creator,
    created_at: instant,
    checked_at: instant.nullable(),
    next_check_at: instant.nullable().meta({ description: 'Time of the next automatic check.' }),
    verified_at: instant.nullable(),
  })
  .meta({ id: 'Domain' })

export const domainPage = pageOf(domainRecord)

export function toWireDomain(
  platform: Pick<Platform, 'names' | 'appsHosting'>,
  domain: DomainRecord,
): z.input<typeof domainRecord> {
  const { challenge, route } = wantedRecords(platform, domain)
  return {
    id: domain.id,
    domain_id: domain.id,
    app_id: domain.app_id,
    hostname: domain.hostname,
    status: domain.status,
    records: [
      { ...challenge, verified: domain.owned },
      { ...route, verified: domain.routed },
    ],
    verification_error: describeFault(domain.error),
    tls: 'proxy',
    primary: domain.primary,
    created_by: { ...domain.created_by },
    created_at: toIso(domain.created_at),
    checked_at: isoOrNull(domain.checked_at),
    next_check_at: isoOrNull(domain.next_check_at),
    verified_at: isoOrNull(domain.verified_at),
  }
}

const AT = '2026-01-30T12:00:00.000Z'

/** Shared by examples. */
export const exampleDomain = {
  id: '01890a5d-ac96-774b-bcce-b302099a8070',
  domain_id: '01890a5d-ac96-774b-bcce-b302099a8070',
  app_id: exampleApp.id,
  hostname: 'shop.example.com',
  status: 'verified',
  records: [
    {
      type: 'TXT',
      name: '_service-challenge.shop.example.com',
      value: '9f2c41d07be85a3360d1c7e2f4a8b59013cd6e7a',
      verified: true,
    },
    { type: 'CNAME', name: 'shop.example.com', value: 'apps.example.net', verified: true },
  ],
  verification_error: null,
  tls: 'proxy',
  primary: true,
  created_by: exampleApp.created_by,
  created_at: AT,
  checked_at: '2026-01-30T12:06:00.000Z',
  next_check_at: '2026-01-31T12:06:00.000Z',
  verified_at: '2026-01-30T12:06:00.000Z',
} as const

/** A domain just after its creation. */
export const examplePendingDomain = {
  ...exampleDomain,
  status: 'pending',
  records: exampleDomain.records.map((one) => ({ ...one, verified: false })),
  primary: false,
  checked_at: null,
  next_check_at: '2026-01-30T12:01:00.000Z',
  verified_at: null,
} as const
