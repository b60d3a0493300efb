import { judgeName } from '../../../../lib/egress/name.ts'
import type { DomainRecord } from '../../../../plugins/platform/contract/domains.ts'
import { httpError } from '../../../operations/errors.ts'
import type { Platform } from '../../../platform.ts'

/** A record that the owner of a hostname is to set. */
export interface WantedRecord {
  readonly type: 'TXT' | 'CNAME'
  readonly name: string
  readonly value: string
}

export interface WantedRecords {
  /** Proves whose the hostname is: nobody else can set it. */
  readonly challenge: WantedRecord
  /** Leads visitors here; addresses of the same target do as well. */
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

/** Where public hostnames can lead to; undefined where apps have names of this machine or network alone. */
export function publicAppsDomain({
  appsHosting,
}: Pick<Platform, 'appsHosting'>): string | undefined {
  const domain = appsHosting?.domain ?? ''
  return judgeName(domain) === undefined ? domain : undefined
}

/** @throws KeyhookError `capability_unavailable` where there is none */
export function requireAppsDomain(platform: Pick<Platform, 'appsHosting'>): string {
  const domain = publicAppsDomain(platform)
  if (domain === undefined) throw httpError('capability_unavailable')
  return domain
}
