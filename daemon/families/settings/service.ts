import type { DomainReads, DomainRecord } from '../../../plugins/platform/contract/domains.ts'
import type { ServiceReads, ServiceRecord } from '../../../plugins/platform/contract/services.ts'
import type { Keyring } from '../../../lib/engine/keyring.ts'
import { secretIdOf, serviceSecretAad } from '../../../plugins/platform/contract/services.ts'
import { accountOf } from '../../authority/principal.ts'
import type { Change } from '../audit/note.ts'
import { audit } from '../audit/note.ts'
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

/** Audit action of each change of an app's settings. */
type SettingsAction =
  | 'domain.created'
  | 'domain.updated'
  | 'domain.checked'
  | 'domain.deleted'
  | 'service.set'
  | 'service.deleted'
  | 'auth.updated'

/** Records a change of an app's settings in the audit log. */
export async function noteSetting(
  call: Change,
  app_id: string,
  action: SettingsAction,
  target_id: string,
): Promise<void> {
  const account_id = accountOf(call.principal)
  const target_type = action.slice(0, action.indexOf('.'))
  await audit(call, { account_id, action, target_type, target_id, app_id })
}

/** Encrypts the given secrets of a service; null remains, and deletes a secret. */
export function encryptSecrets(
  keyring: Keyring,
  appId: string,
  service: string,
  secrets: Readonly<Record<string, string | null>>,
): ReadonlyMap<string, string | null> {
  return new Map(
    Object.entries(secrets).map(([name, value]) => {
      const associatedData = serviceSecretAad(secretIdOf(appId, service, name))
      return [name, value === null ? null : keyring.encrypt(value, associatedData)]
    }),
  )
}
