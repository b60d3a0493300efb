import type { Keyring } from '../../../../lib/engine/keyring.ts'
import { secretIdOf, serviceSecretPlace } from '../../../../plugins/platform/contract/services.ts'

/** Seals what is given of a service's secrets; null stays, for those that are to go. */
export function sealSecrets(
  keyring: Keyring,
  appId: string,
  service: string,
  secrets: Readonly<Record<string, string | null>>,
): ReadonlyMap<string, string | null> {
  return new Map(
    Object.entries(secrets).map(([name, value]) => {
      const place = serviceSecretPlace(secretIdOf(appId, service, name))
      return [name, value === null ? null : keyring.seal(value, place)]
    }),
  )
}
