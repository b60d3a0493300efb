import { effectiveAuthority, holdsApp } from '../../lib/grant/authority.ts'
import { endOfChain } from '../../lib/key/lifecycle.ts'
import type { Creator } from '../../lib/key/record.ts'
import { allows, requiredScope } from '../../lib/scope/cover.ts'
import type { Instant } from '../../lib/time.ts'
import type { Store } from '../../plugins/store/contract.ts'
import type { Platform } from '../platform.ts'

/** Work that goes on after it was accepted. */
export interface Asked {
  readonly account_id: string
  readonly app_id: string
  readonly created_by: Creator
}

/**
 * Whether who asked for work could ask for it now: it may wait for long, and must not outlive the
 * revocation of its key. What an operator asked for goes on in any case, and what a user did though
 * their session has ended.
 *
 * The value that a key had then does not matter: a key that was rotated is the same key.
 *
 * @param enough scopes of which a key must hold one
 */
export async function isStillAllowed(
  { universe }: Pick<Platform, 'universe'>,
  tx: Pick<Store, 'accounts' | 'keys'>,
  { account_id, app_id, created_by }: Asked,
  enough: readonly string[],
  now: Instant,
): Promise<boolean> {
  if (created_by.type === 'operator') return true
  // An embedder's accounts are its own, and not kept here.
  const account = await tx.accounts.get(account_id)
  if (account !== undefined && account.suspended_at !== null) return false
  if (created_by.type === 'user') return true
  const chain = await tx.keys.chain(account_id, created_by.id ?? '')
  if (chain.length === 0 || endOfChain(chain, now) !== undefined) return false
  const { scopes, pins } = effectiveAuthority(chain)
  return (
    holdsApp(pins, app_id) && enough.some((scope) => allows(scopes, requiredScope(scope, universe)))
  )
}
