import { judgeName } from '../../../../lib/egress/name.ts'
import type { DomainRecord } from '../../../../plugins/platform/contract/domains.ts'
import { httpError } from '../../../operations/errors.ts'
import type { Platform } from '../../../platform.ts'

/** A DNS record that the owner of a hostname must set. */
export interface WantedRecord {
  readonly type: 'TXT' | 'CNAME'
  readonly name: string
  readonly value: string
}

export interface WantedRecords {
  /** Proves the ownership of the hostname: only its owner can set it. */
  readonly challenge: WantedRecord
  /** Routes visitors to this service; addresses of the same target are accepted too. */
  readonly route: WantedRecord
}

export function wantedRecords(
  { names, appsHosting }: Pick<Platform, 'names' | 'appsHosting'>,
  { hostname, token }: Pick<DomainRecord, 'hostname' | 'token'>,
): WantedRecords {
  return {
    challenge: { type: 'TXT', name: `${names.challengeLabel}.${hostname}`, value: token },
    route: { type: 'CNAME', name: hostname, value: appsHosting?.domain ?? '' },
  }
}

/** The domain that public hostnames can point to; undefined when apps only have local names. */
export function publicAppsDomain({
  appsHosting,
}: Pick<Platform, 'appsHosting'>): string | undefined {
  const domain = appsHosting?.domain ?? ''
  return judgeName(domain) === undefined ? domain : undefined
}

/**
 * @throws KeyhookError `capability_unavailable` without one
 */
export function requireAppsDomain(platform: Pick<Platform, 'appsHosting'>): string {
  const domain = publicAppsDomain(platform)
  if (domain === undefined) throw httpError('capability_unavailable')
  return domain
}
