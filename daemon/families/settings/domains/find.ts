import type { DomainReads, DomainRecord } from '../../../../plugins/platform/contract/domains.ts'
import { settingsError } from '../errors.ts'

export async function findDomain(
  domains: Pick<DomainReads, 'get'>,
  appId: string,
  id: string,
): Promise<DomainRecord> {
  const domain = await domains.get(appId, id)
  if (domain === undefined) throw settingsError('domain_not_found')
  return domain
}
