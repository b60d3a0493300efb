import type { UserRecord } from '../../../../plugins/store/contract/accounts.ts'
import type { Call } from '../../../operations/call.ts'
import { operation } from '../../../operations/operation.ts'
import { httpError } from '../../../operations/errors.ts'
import { networkOf } from '../../../limits/network.ts'
import { audit } from '../../audit/note.ts'
import { accountError } from '../errors.ts'
import type { Passwords } from '../password.ts'
import { turnOfNetwork } from '../password.ts'
import { exampleCredentials, exampleSession, sessionRecord, stepUpBody } from '../schema.ts'
import { findAccount } from '../service.ts'
import { toWireSession } from '../session.ts'
import type { Guesses } from '../throttle.ts'

export function stepUp(passwords: Passwords, guesses: Guesses) {
  return operation({
    effect: 'write',
    id: 'accounts.step_up',
    summary: 'Confirm your password, which permits sensitive operations for ten minutes',
    method: 'POST',
    path: '/v1/session/step-up',
    access: 'user',
    agent: { omit: "A person's sign-in, which no key has." },
    emits: ['accounts'],
    input: { body: stepUpBody },
    output: sessionRecord,
    errors: ['session_required', 'session_expired', 'invalid_credentials', 'rate_limited'],
    example: { body: { password: exampleCredentials.password }, response: exampleSession },
    bodyLimit: 8192,
    async prepare(call) {
      const { principal, now, ip } = call
      if (principal.type !== 'user') throw httpError('session_required')
      const { email } = principal
      const attempt = { network: networkOf(ip), email }
      const user = await guesses.check(attempt, now, () => prove(call, passwords, email))
      if (user === undefined) throw accountError('invalid_credentials')
      return user
    },
    async run(call) {
      const { principal, tx, prepared, now } = call
      if (principal.type !== 'user') throw httpError('session_required')
      // Checking took long: a password that was reset meanwhile proves nothing.
      const found = await tx.accounts.session(principal.session_hash)
      if (found?.user.password !== prepared.password) throw httpError('session_expired')
      await tx.accounts.touchSession(found.session.hash, { seen_at: now, authenticated_at: now })
      const account = await findAccount(tx.accounts, principal.account_id)
      await audit(call, {
        account_id: account.id,
        action: 'user.stepped_up',
        target_type: 'user',
        target_id: principal.user_id,
      })
      return toWireSession(account, found.user, found.session.expires_at)
    },
  })
}

/** Undefined for a wrong password. */
async function prove(
  { platform, body, ip }: Call<{ readonly body: typeof stepUpBody }>,
  passwords: Passwords,
  email: string,
): Promise<UserRecord | undefined> {
  const user = await platform.store.accounts.userByEmail(email)
  const { matches } = await passwords.check(body.password, user?.password, turnOfNetwork(ip))
  return matches ? user : undefined
}
