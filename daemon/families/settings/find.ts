import type { DomainReads, DomainRecord } from '../../../plugins/platform/contract/domains.ts'
import type { ServiceReads, ServiceRecord } from '../../../plugins/platform/contract/services.ts'
import { settingsError } from './errors.ts'

export async function findService(
  services: Pick<ServiceReads, 'get'>,
  appId: string,
  name: string,
): Promise<ServiceRecord> {
  const service = await services.get(appId, name)
  if (service === undefined) throw settingsError('service_not_found')
  return service
}

export async function findDomain(
  domains: Pick<DomainReads, 'get'>,
  appId: string,
  id: string,
): Promise<DomainRecord> {
  const domain = await domains.get(appId, id)
  if (domain === undefined) throw settingsError('domain_not_found')
  return domain
}
