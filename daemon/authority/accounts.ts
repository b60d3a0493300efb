import type { Instant } from '../../lib/time.ts'
import type { StoreTx } from '../../plugins/store/contract.ts'
import type { AccountRecord } from '../../plugins/store/contract/accounts.ts'
import type { Platform } from '../platform.ts'

/** Creates an account: on the plan with all features where nothing is charged. */
export async function insertAccount(
  tx: Pick<StoreTx, 'accounts'>,
  { billing }: Pick<Platform, 'billing'>,
  account: Pick<AccountRecord, 'id' | 'name'> & Partial<Pick<AccountRecord, 'key_limit' | 'plan'>>,
  now: Instant,
): Promise<AccountRecord> {
  const record: AccountRecord = {
    key_limit: null,
    plan: billing.metered ? 'free' : 'pro',
    ...account,
    suspended_at: null,
    created_at: now,
    updated_at: now,
  }
  await tx.accounts.insert(record)
  return record
}
