import { createHash } from 'node:crypto'
import t from 'tap'
import { createPasswords } from '../../daemon/families/accounts/password.ts'
import { MOST_SESSIONS } from '../../daemon/families/accounts/session.ts'
import { DAY, HOUR, MINUTE } from '../../lib/time.ts'
import { codeOf } from '../support/answer.ts'
import { CHEAP, EMAIL, PASSWORD, START, cookieOf, openSite } from '../support/site.ts'
import type { Answer, AnyBody } from '../support/world.ts'

await t.test('signing out ends the session and clears the cookie', async (t) => {
  const site = await openSite(t)
  await site.addUser()
  const cookie = await site.session()
  const other = await site.session()
  const headers = { cookie, 'sec-fetch-site': 'same-origin' }
  const answer = await site.ask('DELETE', '/v1/session', { headers })
  t.equal(answer.status, 200)
  t.equal(answer.body['expires_at'], new Date(START).toISOString())
  t.strictSame(answer.headers.getSetCookie(), [
    'keyhook=; path=/; expires=Thu, 01 Jan 1970 00:00:00 GMT; samesite=strict; httponly',
  ])
  t.equal(codeOf(await site.ask('GET', '/v1/session', { headers })), '401 session_expired')
  t.equal((await site.ask('GET', '/v1/session', { headers: { cookie: other } })).status, 200)
})

await t.test('a session ends after 30 days, however much it is used', async (t) => {
  const site = await openSite(t)
  await site.addUser()
  const headers = { cookie: await site.session() }
  const ask = async (): Promise<string> => codeOf(await site.ask('GET', '/v1/session', { headers }))
  for (let hours = 10; hours < 720; hours += 10) {
    await site.clock.advance(10 * HOUR)
    t.equal(await ask(), '200', `after ${hours} hours`)
  }
  await site.clock.advance(10 * HOUR - 1)
  t.equal(await ask(), '200')
  await site.clock.advance(1)
  t.equal(await ask(), '401 session_expired')
  const made = { cookie: `keyhook=${'A'.repeat(43)}` }
  t.equal(codeOf(await site.ask('GET', '/v1/session', { headers: made })), '401 session_expired')
})

await t.test(
  'a session ends after 12 hours without use, counted from its last minute',
  async (t) => {
    const site = await openSite(t)
    await site.addUser()
    const cookie = await site.session()
    const ask = async (): Promise<string> =>
      codeOf(await site.ask('GET', '/v1/session', { headers: { cookie } }))
    const seen = async (): Promise<number | undefined> =>
      (await site.platform.store.accounts.session(hashOf(cookie)))?.session.seen_at
    await site.clock.advance(MINUTE - 1)
    t.equal(await ask(), '200')
    t.equal(await seen(), START, 'reading writes once a minute at most')
    await site.clock.advance(1)
    t.equal(await ask(), '200')
    t.equal(await seen(), START + MINUTE)
    await site.clock.advance(12 * HOUR - 1)
    t.equal(await ask(), '200')
    t.equal(await seen(), START + MINUTE + 12 * HOUR - 1)
    await site.clock.advance(12 * HOUR)
    t.equal(await ask(), '401 session_expired')
    t.equal(await ask(), '401 session_expired', 'asking does not bring it back')
  },
)

await t.test('a suspended account lets nobody in, signed in before or not', async (t) => {
  const site = await openSite(t)
  const suspended = await site.addAccount({ suspended_at: START })
  const body = { email: EMAIL, password: PASSWORD, account_id: suspended.id }
  const { body: user } = await site.asOperator<{ id: string }>('POST', '/v1/users', body)
  t.equal(codeOf(await site.signIn()), '403 account_suspended')
  t.equal(codeOf(await site.signIn('wrong horse battery')), '401 invalid_credentials')

  const hash = createHash('sha256').update('value').digest('hex')
  await site.platform.store.write((tx) =>
    tx.accounts.insertSession({
      hash,
      user_id: user.id,
      created_at: START,
      expires_at: START + DAY,
      seen_at: START,
      authenticated_at: START,
    }),
  )
  const headers = { cookie: 'keyhook=value' }
  t.equal(codeOf(await site.ask('GET', '/v1/session', { headers })), '403 account_suspended')
})

await t.test(
  'a new password ends every session, one that is being opened with the old included',
  async (t) => {
    const inner = createPasswords({ cost: CHEAP })
    let checked: () => Promise<void> = () => Promise.resolve()
    const site = await openSite(t, {
      passwords: {
        ...inner,
        async check(password, kept) {
          const result = await inner.check(password, kept)
          await checked()
          return result
        },
      },
    })
    await site.addUser()
    await site.addUser('other@example.com')
    const cookie = await site.session()
    const other = cookieOf(await site.signIn(PASSWORD, 'other@example.com'))
    const changed = 'another horse battery'
    const reset = (): Promise<Answer<AnyBody>> =>
      site.asOperator('POST', '/v1/users/reset-password', { email: EMAIL, password: changed })
    checked = async () => void (await reset())
    t.equal(
      codeOf(await site.signIn()),
      '401 invalid_credentials',
      'reset between check and session',
    )
    checked = () => Promise.resolve()

    const status = async (cookie: string): Promise<string> =>
      codeOf(await site.ask('GET', '/v1/session', { headers: { cookie } }))
    t.equal(await status(cookie), '401 session_expired')
    t.equal(await status(other), '200')
    t.equal((await site.signIn()).status, 401)
    t.equal((await site.signIn(changed)).status, 200)
    const unknown = { email: 'nobody@example.com', password: PASSWORD }
    t.equal(
      codeOf(await site.asOperator('POST', '/v1/users/reset-password', unknown)),
      '404 user_not_found',
    )
  },
)

/** What the store keeps of a session's cookie. */
function hashOf(cookie: string): string {
  return createHash('sha256').update(cookie.slice('keyhook='.length)).digest('hex')
}

await t.test('a user lists their sessions, ends one, and ends all others', async (t) => {
  const site = await openSite(t)
  await site.addUser()
  await site.addUser('other@example.com')
  const [mine, second, third] = [await site.session(), await site.session(), await site.session()]
  const foreign = cookieOf(await site.signIn(PASSWORD, 'other@example.com'))
  const as = (cookie: string): { headers: Record<string, string> } => ({
    headers: { cookie, 'sec-fetch-site': 'same-origin' },
  })
  interface Listed {
    readonly data: readonly { readonly id: string; readonly current: boolean }[]
  }
  const list = async (cookie: string): Promise<Listed['data']> =>
    (await site.ask<Listed>('GET', '/v1/sessions', as(cookie))).body.data
  const status = async (cookie: string): Promise<string> =>
    codeOf(await site.ask('GET', '/v1/session', as(cookie)))
  const all = await list(mine)
  t.equal(all.length, 3)
  t.equal(all.filter(({ current }) => current).length, 1)
  t.notMatch(JSON.stringify(all), hashOf(mine))

  const { id = '' } = (await list(second)).find(({ current }) => current) ?? {}
  const end = (id: string, cookie: string): Promise<Answer<AnyBody>> =>
    site.ask('DELETE', `/v1/sessions/${id}`, as(cookie))
  t.equal(codeOf(await end(id, foreign)), '404 session_not_found', 'of another user')
  t.equal(codeOf(await end(id, mine)), '200')
  t.equal(codeOf(await end(id, mine)), '404 session_not_found')
  t.equal(await status(second), '401 session_expired')
  t.equal(await status(third), '200')

  const rest = await site.ask<Listed>('DELETE', '/v1/sessions', as(mine))
  t.strictSame(
    rest.body.data.map(({ current }) => current),
    [true],
  )
  t.equal(await status(third), '401 session_expired')
  t.equal(await status(foreign), '200')
  t.equal(codeOf(await site.asOperator('GET', '/v1/sessions')), '403 session_required')
  await site.session()
  await site.clock.advance(12 * HOUR - 1)
  t.equal(await status(mine), '200')
  await site.clock.advance(MINUTE)
  t.equal((await list(mine)).length, 1, 'one that was not used has ended')
})

await t.test('a user lists the members of their account, and when each signed in', async (t) => {
  const site = await openSite(t)
  const owner = await site.addUser()
  await site.addUser('stranger@example.com')
  const second = await site.asOperator('POST', '/v1/users', {
    email: 'second@example.com',
    password: PASSWORD,
    account_id: owner.account_id,
  })
  t.equal(second.status, 201)
  await site.session()
  await site.clock.advance(MINUTE)
  const headers = { cookie: await site.session(), 'sec-fetch-site': 'same-origin' }
  const [then, later] = [START, START + MINUTE].map((at) => new Date(at).toISOString())
  const list = async (): Promise<AnyBody> =>
    (await site.ask('GET', '/v1/members', { headers })).body
  const me = {
    id: owner.id,
    email: EMAIL,
    role: 'owner',
    current: true,
    joined_at: then,
    signed_in_at: later,
  }
  const other = {
    id: second.body['id'],
    email: 'second@example.com',
    role: 'owner',
    current: false,
    joined_at: then,
    signed_in_at: null,
  }
  t.strictSame(await list(), { data: [other, me], has_more: false, next_cursor: null })
  const first = await site.ask<{ next_cursor: string }>('GET', '/v1/members?limit=1', { headers })
  const rest = `/v1/members?cursor=${first.body.next_cursor}`
  t.match((await site.ask('GET', rest, { headers })).body, { data: [me], has_more: false })
  const foreign = cookieOf(await site.signIn(PASSWORD, 'stranger@example.com'))
  const stranger = { headers: { cookie: foreign } }
  t.match((await site.ask('GET', '/v1/members', stranger)).body, {
    data: { length: 1, 0: { email: 'stranger@example.com' } },
  })
  t.equal(codeOf(await site.ask('GET', rest, stranger)), '400 invalid_cursor')
  t.equal(codeOf(await site.asOperator('GET', '/v1/members')), '403 session_required')
  const { key } = await site.mintKey({ scopes: ['*:*'] })
  t.equal(codeOf(await site.request('GET', '/v1/members', { as: key })), '403 session_required')
  // The session of the last sign-in ends, and when it was stays known.
  await site.ask('DELETE', '/v1/session', { headers })
  const again = { cookie: cookieOf(await site.signIn(PASSWORD, 'second@example.com')) }
  t.match((await site.ask('GET', '/v1/members', { headers: again })).body, {
    data: [{ current: true, signed_in_at: later }, { signed_in_at: later }],
  })
})

await t.test('one session more than a user may have ends the one unused for longest', async (t) => {
  const site = await openSite(t)
  await site.addUser()
  const status = async (cookie: string): Promise<string> =>
    codeOf(await site.ask('GET', '/v1/session', { headers: { cookie } }))
  const first = await site.session()
  const second = await site.session()
  const more: string[] = []
  while (more.length < MOST_SESSIONS - 2) more.push(await site.session())
  await site.clock.advance(MINUTE)
  t.equal(await status(first), '200', 'used after the second')
  await site.clock.advance(MINUTE)
  await site.session()
  t.equal(await status(first), '200')
  const { user } = (await site.platform.store.accounts.session(hashOf(first))) ?? {}
  const sessions = await site.platform.store.accounts.sessionsOf(user?.id ?? '', 1000)
  t.equal(sessions.length, MOST_SESSIONS)
  const ended = [second, ...more].filter(
    (cookie) => !sessions.some(({ hash }) => hash === hashOf(cookie)),
  )
  t.equal(ended.length, 1, 'of those used at the same instant any one')
  t.equal(await status(ended[0] ?? ''), '401 session_expired')
})
