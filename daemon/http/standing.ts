import { kernelError } from '../../lib/errors.ts'
import { effectiveAuthority } from '../../lib/grant/authority.ts'
import { endOfChain, secretStatus } from '../../lib/key/lifecycle.ts'
import type { KeyRecord } from '../../lib/key/record.ts'
import type { RequiredScope } from '../../lib/scope/cover.ts'
import type { Instant } from '../../lib/time.ts'
import type { StoreTx } from '../../plugins/store/contract.ts'
import { httpError } from '../operations/errors.ts'
import type { KeyPrincipal, Principal } from '../authority/principal.ts'
import { requireScope } from '../authority/principal.ts'

/**
 * Refuses a principal that ended between its authentication and the unit of work that it asked for: a
 * slow body, or work before the unit, would else let it write after the answer of its revocation.
 */
export async function requireStanding(
  tx: StoreTx,
  principal: Principal | undefined,
  required: RequiredScope | undefined,
  now: Instant,
): Promise<void> {
  if (principal?.type === 'key') await requireKey(tx, principal, required, now)
  if (principal?.type === 'user') {
    await requireAccount(tx, principal.account_id)
    if ((await principal.stands?.(tx)) === false) throw httpError('session_expired')
  }
}

/** An embedder's accounts are its own, and not kept here. */
async function requireAccount(tx: StoreTx, accountId: string): Promise<void> {
  const account = await tx.accounts.get(accountId)
  if (account !== undefined && account.suspended_at !== null) throw kernelError('account_suspended')
}

async function requireKey(
  tx: StoreTx,
  { account_id, key, secret_version }: KeyPrincipal,
  required: RequiredScope | undefined,
  now: Instant,
): Promise<void> {
  await requireAccount(tx, account_id)
  const chain = await tx.keys.chain(account_id, key.id)
  if (chain.length === 0) throw kernelError('invalid_key')
  const end = endOfChain(chain, now)
  if (end !== undefined) throw kernelError(`key_${end}`)
  if (!isLive(chain.at(-1), secret_version, now)) throw kernelError('key_rotated')
  if (required !== undefined) requireScope(effectiveAuthority(chain), required)
}

/** Whether the value of a version still works: a rotation, or its owner, may have ended it meanwhile. */
function isLive(key: KeyRecord | undefined, version: number, now: Instant): boolean {
  const value = key?.secrets.find((one) => one.version === version)
  if (key === undefined || value === undefined) return false
  return secretStatus(key, value, key.version, now) !== 'ended'
}
