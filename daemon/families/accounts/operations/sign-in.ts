import { kernelError } from '../../../../lib/errors.ts'
import type { UserRecord } from '../../../../plugins/store/contract/accounts.ts'
import type { Call } from '../../../operations/call.ts'
import { operation } from '../../../operations/operation.ts'
import { networkOf } from '../../../limits/network.ts'
import { audit } from '../../audit/note.ts'
import { accountError } from '../errors.ts'
import type { Passwords } from '../password.ts'
import { turnOfNetwork } from '../password.ts'
import { exampleCredentials, exampleSession, sessionRecord, signInBody } from '../schema.ts'
import { findAccount } from '../service.ts'
import type { OpenedSession } from '../session.ts'
import { SESSION_LIFE, openSession, requireSessionCookie } from '../session.ts'
import type { Guesses } from '../throttle.ts'

type SignInCall = Call<{ readonly body: typeof signInBody }>

export function signIn(passwords: Passwords, guesses: Guesses) {
  return operation({
    effect: 'own',
    id: 'accounts.sign_in',
    summary: 'Sign in to Studio; the session is in a cookie',
    method: 'POST',
    path: '/v1/session',
    access: 'public',
    agent: { omit: "A person's sign-in, which no key has." },
    emits: ['accounts'],
    input: { body: signInBody },
    output: sessionRecord,
    errors: ['insecure_transport', 'invalid_credentials', 'account_suspended', 'rate_limited'],
    example: { body: exampleCredentials, response: exampleSession },
    bodyLimit: 8192,
    async run(call) {
      const { platform, body, now, ip, response } = call
      const cookie = requireSessionCookie(platform)
      const attempt = { network: networkOf(ip), email: body.email }
      const opened = await guesses.check(attempt, now, () => open(call, passwords))
      if (opened === undefined) throw accountError('invalid_credentials')
      response.setCookie(cookie, opened.value, now + SESSION_LIFE)
      return opened.record
    },
  })
}

/** Undefined both for a wrong password and for an unknown user, after the same work. */
async function open(call: SignInCall, passwords: Passwords): Promise<OpenedSession | undefined> {
  const { platform, body, ip } = call
  const turn = turnOfNetwork(ip)
  const user = await platform.store.accounts.userByEmail(body.email)
  const { matches, outdated } = await passwords.check(body.password, user?.password, turn)
  if (user === undefined || !matches) return undefined
  const rehashed = outdated ? await passwords.hash(body.password, turn) : undefined
  return openChecked(call, user, rehashed)
}

async function openChecked(
  call: SignInCall,
  checked: UserRecord,
  rehashed: string | undefined,
): Promise<OpenedSession | undefined> {
  const { platform, now } = call
  return platform.store.write(async (tx) => {
    // Checking took long: a password that was reset meanwhile no longer signs in.
    const user = await tx.accounts.userByEmail(checked.email)
    if (user?.password !== checked.password) return undefined
    const account = await findAccount(tx.accounts, user.account_id)
    if (account.suspended_at !== null) throw kernelError('account_suspended')
    if (rehashed !== undefined) await tx.accounts.setPassword(user.id, rehashed, now)
    const opened = await openSession(tx, platform, account, user, now)
    await audit(
      { ...call, tx, principal: opened.principal },
      {
        account_id: account.id,
        action: 'user.signed_in',
        target_type: 'user',
        target_id: user.id,
      },
    )
    return opened
  })
}
