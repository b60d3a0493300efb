import { defineFamily } from '../../operations/family.ts'
import { accountError } from './errors.ts'
import { createAccount } from './operations/create-account.ts'
import { createUser } from './operations/create-user.ts'
import { getAccount, listAccounts } from './operations/read-accounts.ts'
import { getSession, signOut } from './operations/session.ts'
import { endOtherSessions, endSession, listSessions } from './operations/sessions.ts'
import { resetPassword } from './operations/reset-password.ts'
import { setPlan } from './operations/set-plan.ts'
import { setUp } from './operations/set-up.ts'
import { listMembers } from './operations/list-members.ts'
import { signIn } from './operations/sign-in.ts'
import { stepUp } from './operations/step-up.ts'
import { resumeAccount, suspendAccount } from './operations/suspend.ts'
import { updateAccount } from './operations/update-account.ts'
import type { Passwords } from './password.ts'
import { createPasswords } from './password.ts'
import type { Guesses } from './throttle.ts'
import { createGuesses } from './throttle.ts'

/**
 * Accounts, their users and sign-in.
 *
 * @param options.passwords default: scrypt at its full cost
 * @param options.guesses default: failed attempts are limited by network, and by network and address
 */
export function createAccountsFamily(
  options: { readonly passwords?: Passwords; readonly guesses?: Guesses } = {},
) {
  const { passwords = createPasswords(), guesses = createGuesses() } = options
  return defineFamily({
    name: 'accounts',
    scopes: {},
    events: [],
    errors: accountError,
    operations: [
      signIn(passwords, guesses),
      stepUp(passwords, guesses),
      getSession,
      signOut,
      listSessions,
      endSession,
      endOtherSessions,
      listMembers,
      setUp(passwords, guesses),
      listAccounts,
      createAccount,
      getAccount,
      updateAccount,
      createUser(passwords),
      resetPassword(passwords),
      setPlan,
      suspendAccount,
      resumeAccount,
    ],
  })
}

/** Accounts, their users and sign-in; one per process, so that hashing has one limit. */
export const accountsFamily = createAccountsFamily()
