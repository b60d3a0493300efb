import { secretPlace } from '../../../lib/engine/targets.ts'
import type { Instant } from '../../../lib/time.ts'
import type { SealedSecret } from '../../../lib/webhook/record.ts'
import { mintSecret, secretDisplay } from '../../../lib/webhook/secret.ts'
import type { Platform } from '../../platform.ts'

/** A new signing secret, and how it is kept. */
export function sealNewSecret(
  { newId, random, keyring }: Pick<Platform, 'newId' | 'random' | 'keyring'>,
  now: Instant,
): { readonly value: string; readonly sealed: SealedSecret } {
  const id = newId()
  const value = mintSecret(random)
  const sealed = keyring.seal(value, secretPlace(id))
  return {
    value,
    sealed: { id, sealed, display: secretDisplay(value), created_at: now, not_after: null },
  }
}
