import type { Instant } from '../../../lib/time.ts'
import type { StoreTx } from '../../../plugins/store/contract.ts'
import type {
  AccountReads,
  AccountRecord,
  Plan,
  UserRecord,
} from '../../../plugins/store/contract/accounts.ts'
import type { Platform } from '../../platform.ts'
import { httpError } from '../../operations/errors.ts'
import type { Change } from '../audit/note.ts'
import { audit } from '../audit/note.ts'
import { accountError } from './errors.ts'

/** A user to create; the password is already hashed, because hashing takes long. */
export interface NewUser {
  readonly email: string
  readonly passwordHash: string
}

/** Creates a user in an account. */
export async function insertUser(
  tx: StoreTx,
  { newId }: Pick<Platform, 'newId'>,
  account: AccountRecord,
  { email, passwordHash }: NewUser,
  now: Instant,
): Promise<UserRecord> {
  const user: UserRecord = {
    id: newId(),
    account_id: account.id,
    email,
    password: passwordHash,
    created_at: now,
    updated_at: now,
  }
  if (!(await tx.accounts.insertUser(user))) throw accountError('email_taken')
  return user
}

/** @throws KeyhookError `account_not_found` */
export async function findAccount(
  accounts: Pick<AccountReads, 'get'>,
  id: string,
): Promise<AccountRecord> {
  const account = await accounts.get(id)
  if (account === undefined) throw httpError('account_not_found')
  return account
}

/** @throws KeyhookError `user_not_found` */
export async function findUser(
  accounts: Pick<AccountReads, 'userByEmail'>,
  email: string,
): Promise<UserRecord> {
  const user = await accounts.userByEmail(email)
  if (user === undefined) throw accountError('user_not_found')
  return user
}

/**
 * Changes an account that exists; each change is an entry of the audit log.
 *
 * @throws KeyhookError `plan_managed` for a plan that is sold
 */
export async function changeAccount(
  change: Change,
  id: string,
  {
    key_limit,
    plan,
  }: { readonly key_limit?: number | null | undefined; readonly plan?: Plan | undefined },
): Promise<void> {
  const { platform, tx, now } = change
  if (plan !== undefined && platform.billing.sellsPlan) throw accountError('plan_managed')
  const note = (action: string): Promise<void> =>
    audit(change, { account_id: id, action, target_type: 'account', target_id: id })
  if (key_limit !== undefined) {
    await tx.accounts.setKeyLimit(id, key_limit, now)
    await note('account.updated')
  }
  if (plan !== undefined) {
    await tx.accounts.setPlan(id, plan, now)
    await note('account.plan_changed')
  }
}
