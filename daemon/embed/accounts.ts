import { toHex } from '../../lib/internal/bytes.ts'
import { FULL_AUTHORITY } from '../../lib/grant/authority.ts'
import { insertAccount } from '../families/accounts/service.ts'
import { audit } from '../families/audit/note.ts'
import type { Platform } from '../platform.ts'
import type { OperatorPrincipal } from '../authority/principal.ts'
import { readAccountChanges } from './arguments.ts'

/** Settings of one of the embedder's accounts. */
export interface AccountSettings {
  readonly id: string
  /** Maximum live keys; null uses `keyLimit` of `createKeyhook`. */
  readonly key_limit: number | null
}

export type UpdateAccount = (
  accountId: string,
  changes: Pick<AccountSettings, 'key_limit'>,
) => Promise<AccountSettings>

const REQUEST_ID_BYTES = 12

/** Changes settings of an embedder's account. Keyhook creates its row with the first setting. */
export function createUpdateAccount(platform: Platform): UpdateAccount {
  const { store, clock, random } = platform
  return async (...args) => {
    const [id, { key_limit }] = readAccountChanges(args) as unknown as typeof args
    const principal: OperatorPrincipal = {
      type: 'operator',
      account_id: id,
      authority: FULL_AUTHORITY,
    }
    await store.write(async (tx) => {
      const now = clock.now()
      if (!(await tx.accounts.setKeyLimit(id, key_limit, now))) {
        await insertAccount(tx, platform, { id, name: id, key_limit }, now)
      }
      const requestId = `req_${toHex(random(REQUEST_ID_BYTES))}`
      await audit(
        { tx, platform, principal, now, requestId, ip: '' },
        { account_id: id, action: 'account.updated', target_type: 'account', target_id: id },
      )
    })
    return { id, key_limit }
  }
}
