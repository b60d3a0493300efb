import { kernelError } from '../../lib/errors.ts'
import type { Instant } from '../../lib/time.ts'
import type { StoreTx } from '../../plugins/store/contract.ts'
import type { AccountReads, AccountRecord } from '../../plugins/store/contract/accounts.ts'
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

/** Whether the operator suspended it; an embedder keeps its own accounts, which have no row here. */
export async function isSuspended(
  accounts: Pick<AccountReads, 'get'>,
  id: string,
): Promise<boolean> {
  const account = await accounts.get(id)
  return account !== undefined && account.suspended_at !== null
}

/** @throws KeyhookError `account_suspended` */
export async function requireNotSuspended(
  accounts: Pick<AccountReads, 'get'>,
  id: string,
): Promise<void> {
  if (await isSuspended(accounts, id)) throw kernelError('account_suspended')
}
