import { toHex } from '../../lib/internal/bytes.ts'
import { FULL_AUTHORITY } from '../../lib/grant/authority.ts'
import type { Plan } from '../../plugins/store/contract/accounts.ts'
import { insertAccount } from '../authority/accounts.ts'
import { changeAccount } from '../families/accounts/service.ts'
import type { Platform } from '../platform.ts'
import type { OperatorPrincipal } from '../authority/principal.ts'
import { readAccountChanges } from './arguments.ts'

/** Settings of one of the embedder's accounts. */
export interface AccountSettings {
  readonly id: string
  /** Maximum live keys; null uses `keyLimit` of `createKeyhook`. */
  readonly key_limit: number | null
  /** On `free` no keys can be created; those that exist keep working. */
  readonly plan: Plan
}

/** At least one of them. */
export type AccountChanges = Partial<Omit<AccountSettings, 'id'>>

export type UpdateAccount = (accountId: string, changes: AccountChanges) => Promise<AccountSettings>

const REQUEST_ID_BYTES = 12

/** Changes settings of an embedder's account. Keyhook creates its row with the first setting. */
export function createUpdateAccount(platform: Platform): UpdateAccount {
  const { store, clock, random, billing } = platform
  return async (...args) => {
    const [id, changes = {}] = readAccountChanges(args) as [string, AccountChanges?]
    const { key_limit, plan } = changes
    if (key_limit === undefined && plan === undefined) throw nothingChanged()
    const principal: OperatorPrincipal = {
      type: 'operator',
      account_id: id,
      authority: FULL_AUTHORITY,
    }
    const requestId = `req_${toHex(random(REQUEST_ID_BYTES))}`
    return store.write(async (tx) => {
      const now = clock.now()
      const change = { tx, platform, principal, now, requestId, ip: '', via: null }
      if ((await tx.accounts.get(id)) === undefined) {
        // A setting of its own changes nothing else of an account.
        const had = await billing.planOf(tx, id, now)
        await insertAccount(tx, platform, { id, name: id, plan: had }, now)
      }
      await changeAccount(change, id, changes)
      const account = await tx.accounts.get(id)
      const limit = account?.key_limit ?? null
      return { id, key_limit: limit, plan: await billing.planOf(tx, id, now) }
    })
  }
}

function nothingChanged(): TypeError {
  return new TypeError('accounts.update: changes must name key_limit or plan')
}
