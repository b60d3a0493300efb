import type { Call } from '../../../operations/call.ts'
import { operation } from '../../../operations/operation.ts'
import { networkOf } from '../../../limits/network.ts'
import { audit } from '../../audit/note.ts'
import { accountError } from '../errors.ts'
import { hasUser, isFirst } from '../first-user.ts'
import type { Passwords } from '../password.ts'
import { turnOfNetwork } from '../password.ts'
import { exampleCredentials, exampleSession, sessionRecord, setupBody } from '../schema.ts'
import { insertAccount } from '../../../authority/accounts.ts'
import { insertUser } from '../service.ts'
import type { OpenedSession } from '../session.ts'
import { SESSION_LIFE, hashSecret, openSession, requireSessionCookie } from '../session.ts'
import type { Guesses } from '../throttle.ts'

type SetUpCall = Call<{ readonly body: typeof setupBody }>

export function setUp(passwords: Passwords, guesses: Guesses) {
  return operation({
    effect: 'own',
    id: 'accounts.set_up',
    summary: 'Create the first user with the setup link, and sign in',
    method: 'POST',
    path: '/v1/setup',
    access: 'public',
    agent: { omit: "The first user's, before there is any key." },
    emits: ['accounts'],
    input: { body: setupBody },
    output: sessionRecord,
    errors: ['insecure_transport', 'setup_closed', 'rate_limited'],
    example: {
      body: { token: 'Zm9ydHktdGhyZWUgY2hhcmFjdGVycyBvZiBiYXNlNjQ', ...exampleCredentials },
      response: exampleSession,
    },
    bodyLimit: 8192,
    async run(call) {
      const { platform, body, now, ip, response } = call
      const cookie = requireSessionCookie(platform)
      // Once there is a user, a request does not cost a hash.
      if (await hasUser(platform.store.accounts)) throw accountError('setup_closed')
      const attempt = { network: networkOf(ip), email: '' }
      const opened = await guesses.check(attempt, now, async () =>
        claim(call, await passwords.hash(body.password, turnOfNetwork(ip))),
      )
      if (opened === undefined) throw accountError('setup_closed')
      response.setCookie(cookie, opened.value, now + SESSION_LIFE)
      return opened.record
    },
  })
}

/**
 * The link is used up together with its effect: of concurrent claims one wins. Undefined for a link that is
 * not open.
 */
function claim(call: SetUpCall, passwordHash: string): Promise<OpenedSession | undefined> {
  const { platform, body, now } = call
  return platform.store.write(async (tx) => {
    const open = await isFirst(tx)
    if (!open || !(await tx.accounts.takeSetupLink(hashSecret(body.token), now))) {
      return undefined
    }
    const account = await insertAccount(
      tx,
      platform,
      { id: platform.newId(), name: body.email },
      now,
    )
    const user = await insertUser(tx, platform, account, { email: body.email, passwordHash }, now)
    const opened = await openSession(tx, platform, account, user, now)
    await audit(
      { ...call, tx, principal: opened.principal },
      { account_id: account.id, action: 'user.created', target_type: 'user', target_id: user.id },
    )
    return opened
  })
}
