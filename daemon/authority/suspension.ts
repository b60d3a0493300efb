import { kernelError } from '../../lib/errors.ts'
import type { AccountReads } from '../../plugins/store/contract/accounts.ts'

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
