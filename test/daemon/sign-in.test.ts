import { readFile } from 'node:fs/promises'
import t from 'tap'
import { ensureFirstUser } from '../../daemon/families/accounts/first-user.ts'
import { createPasswords } from '../../daemon/families/accounts/password.ts'
import { sessionCookie } from '../../daemon/families/accounts/session.ts'
import { createThrottle } from '../../daemon/families/accounts/throttle.ts'
import { createResolver } from '../../daemon/http/resolve.ts'
import { DAY, MINUTE } from '../../lib/time.ts'
import { codeOf } from '../support/answer.ts'
import {
  CHEAP,
  EMAIL,
  PASSWORD,
  START,
  TOKEN,
  cookieOf,
  openSite,
  serve,
  setupTokenOf,
} from '../support/site.ts'
import type { Answer, AnyBody } from '../support/world.ts'

await t.test('sign-in opens a session that says who is signed in', async (t) => {
  const site = await openSite(t)
  const user = await site.addUser('Owner@Example.COM')
  const answer = await site.signIn(PASSWORD, 'OWNER@example.com')
  const expected = {
    user: { id: user.id, email: EMAIL },
    account: { id: user.account_id, name: EMAIL, plan: 'pro' },
    expires_at: new Date(START + 30 * DAY).toISOString(),
  }
  t.equal(answer.status, 200)
  t.strictSame(answer.body, expected)
  const cookie = cookieOf(answer)
  t.strictSame((await site.ask('GET', '/v1/session', { headers: { cookie } })).body, expected)
  t.not(await site.session(), cookie, 'every sign-in has a value of its own')
})

await t.test(
  'a wrong password and an unknown user get the same answer after the same work',
  async (t) => {
    const inner = createPasswords({ cost: CHEAP })
    const checked: (string | undefined)[] = []
    const site = await openSite(t, {
      passwords: {
        ...inner,
        check(password, kept) {
          checked.push(kept)
          return inner.check(password, kept)
        },
      },
    })
    await site.addUser()
    const same = ({ body, headers, status }: Answer<AnyBody>): unknown => {
      const { request_id: _, ...error } = body['error'] as Record<string, unknown>
      return { status, error, cookies: headers.getSetCookie() }
    }
    const wrong = await site.signIn('wrong horse battery')
    const unknown = await site.signIn(PASSWORD, 'nobody@example.com')
    t.equal(codeOf(wrong), '401 invalid_credentials')
    t.strictSame(same(wrong), same(unknown))
    t.match(checked, [/^\$scrypt\$/, undefined], 'both were checked')
  },
)

await t.test(
  'passwords: the same in any normal form; hashed again when the cost has grown',
  async (t) => {
    const cheap = createPasswords({ cost: CHEAP })
    const kept = await cheap.hash('Größe-über-alles')
    t.match(kept, /^\$scrypt\$ln=4,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    t.not(await cheap.hash('Größe-über-alles'), kept, 'every hash has a salt of its own')
    const decomposed = 'Größe-über-alles'.normalize('NFD')
    t.strictSame(await cheap.check(decomposed, kept), { matches: true, outdated: false })
    t.match(await cheap.check('another password', kept), { matches: false })
    t.match(await cheap.check('anything', undefined), { matches: false })
    t.match(await cheap.check('anything', 'not a hash'), { matches: false })

    const site = await openSite(t, { passwords: createPasswords({ cost: { ...CHEAP, ln: 5 } }) })
    const { id } = await site.addUser()
    const { store } = site.platform
    const old = await cheap.hash(PASSWORD)
    await store.write((tx) => tx.accounts.setPassword(id, old, START))
    t.equal((await site.signIn('wrong horse battery')).status, 401)
    t.equal((await store.accounts.userByEmail(EMAIL))?.password, old)
    t.equal((await site.signIn()).status, 200)
    t.match((await store.accounts.userByEmail(EMAIL))?.password, /^\$scrypt\$ln=5,/)
    t.equal((await site.signIn()).status, 200)
  },
)

await t.test('the cost that is used by default is the recommended one', async (t) => {
  t.match(await createPasswords().hash(PASSWORD), /^\$scrypt\$ln=17,r=8,p=1\$/)
})

await t.test(
  'five failures from one address close the door for a quarter of an hour',
  async (t) => {
    const site = await openSite(t)
    await site.addUser()
    await site.addUser('other@example.com')
    for (let failed = 0; failed < 5; failed += 1) {
      t.equal(codeOf(await site.signIn('wrong horse battery')), '401 invalid_credentials')
      await site.clock.advance(MINUTE)
    }
    const refused = await site.signIn()
    t.equal(codeOf(refused), '429 rate_limited')
    t.equal(refused.headers.get('retry-after'), '600')
    t.equal((await site.signIn(PASSWORD, 'other@example.com')).status, 200)
    await site.clock.advance(10 * MINUTE)
    t.equal((await site.signIn()).status, 200)
  },
)

await t.test('a sign-in that succeeds forgets the failures before it', async (t) => {
  const site = await openSite(t)
  await site.addUser()
  for (let round = 0; round < 2; round += 1) {
    for (let failed = 0; failed < 4; failed += 1) {
      t.equal((await site.signIn('wrong horse battery')).status, 401)
    }
    t.equal((await site.signIn()).status, 200)
  }
})

await t.test(
  'guesses made at once count as many, and callers are forgotten oldest first',
  async (t) => {
    const site = await openSite(t)
    await site.addUser()
    const guesses = await Promise.all(
      Array.from({ length: 9 }, () => site.signIn('wrong horse battery')),
    )
    t.equal(guesses.filter(({ status }) => status === 401).length, 5)
    t.equal(guesses.filter(({ status }) => status === 429).length, 4)

    const throttle = createThrottle({ limit: 1, callers: 2 })
    for (const caller of ['a', 'b', 'c']) throttle.attempt(caller, START)
    throttle.attempt('a', START)
    t.throws(() => throttle.attempt('c', START), { code: 'rate_limited' })
    throttle.undo('c')
    t.doesNotThrow(() => throttle.attempt('c', START), 'an attempt without outcome does not count')
  },
)

await t.test('the cookie: locked down on https and loopback, refused on other http', async (t) => {
  const site = await openSite(t)
  await site.addUser()
  const [onLoopback] = (await site.signIn()).headers.getSetCookie()
  const expires = new Date(START + 30 * DAY).toUTCString()
  t.match(onLoopback, /^keyhook=[\w-]{43}; path=\/; expires=[^;]+; samesite=strict; httponly$/)
  t.match(onLoopback, `; expires=${expires};`)

  const https = { ...site.platform, baseUrl: 'https://keys.example.com' }
  const resolver = createResolver({ platform: https, operatorToken: undefined })
  const overHttps = await serve(t, https, site.passwords, resolver)
  const body = { email: EMAIL, password: PASSWORD }
  const signedIn = await overHttps('POST', '/v1/session', { body })
  t.match(signedIn.headers.getSetCookie(), [
    /^__Host-keyhook=[\w-]{43}; path=\/; expires=[^;]+; samesite=lax; secure; httponly$/,
  ])
  const headers = { cookie: cookieOf(signedIn) }
  t.equal((await overHttps('GET', '/v1/session', { headers })).status, 200)
  const otherName = { cookie: headers.cookie.replace('__Host-', '') }
  t.equal(
    codeOf(await overHttps('GET', '/v1/session', { headers: otherName })),
    '401 missing_credentials',
  )

  const plain = { ...site.platform, baseUrl: 'http://keys.example.com' }
  const plainResolver = createResolver({ platform: plain, operatorToken: undefined })
  const overHttp = await serve(t, plain, site.passwords, plainResolver)
  const refused = await overHttp('POST', '/v1/session', { body })
  t.equal(codeOf(refused), '400 insecure_transport')
  t.strictSame(refused.headers.getSetCookie(), [])
  t.equal(
    codeOf(await overHttp('POST', '/v1/setup', { body: { ...body, token: 'x' } })),
    '400 insecure_transport',
  )

  for (const [base, name] of [
    ['http://localhost:8420', 'keyhook'],
    ['http://keys.localhost', 'keyhook'],
    ['http://[::1]:8420', 'keyhook'],
    ['http://127.9.9.9', 'keyhook'],
    ['http://127.0.0.1.example.com', undefined],
    ['http://10.0.0.1', undefined],
    ['http://localhost.example.com', undefined],
  ] as const) {
    t.equal(sessionCookie(base)?.name, name, base)
  }
})

await t.test(
  'a change by cookie must come from the same origin; a key needs no such check',
  async (t) => {
    const site = await openSite(t)
    await site.addUser()
    const cookie = await site.session()
    const body = { name: 'a key', scopes: ['apps:read'] }
    const create = async (headers: Record<string, string>): Promise<string> =>
      codeOf(await site.ask('POST', '/v1/keys', { body, headers: { cookie, ...headers } }))

    t.equal(await create({ 'sec-fetch-site': 'same-origin' }), '201')
    t.equal(await create({ 'sec-fetch-site': 'none' }), '201')
    t.equal(await create({ origin: site.baseUrl }), '201')
    t.equal(await create({ 'sec-fetch-site': 'cross-site' }), '403 csrf_failed')
    t.equal(await create({ 'sec-fetch-site': 'same-site' }), '403 csrf_failed')
    t.equal(
      await create({ 'sec-fetch-site': 'cross-site', origin: site.baseUrl }),
      '403 csrf_failed',
    )
    t.equal(await create({ origin: 'http://evil.example' }), '403 csrf_failed')
    const basic = { authorization: 'Basic b3duZXI6', 'sec-fetch-site': 'cross-site' }
    t.equal(await create(basic), '401 missing_credentials', 'a scheme that browsers add')
    t.equal(await create({}), '403 csrf_failed')
    const refused = await site.ask('POST', '/v1/keys', { body, headers: { cookie } })
    const { origin } = (refused.body['error'] as { details: { origin: string } }).details
    t.equal(await create({ origin }), '201', 'the refusal names the Origin that is missing')
    const read = { cookie, 'sec-fetch-site': 'cross-site' }
    t.equal((await site.ask('GET', '/v1/keys', { headers: read })).status, 200)

    const { key } = await site.mintKey({ scopes: ['keys:*'] })
    const byKey = { authorization: `Bearer ${key}`, origin: 'http://evil.example' }
    t.equal(
      await create(byKey),
      '403 scope_not_delegable',
      'the key asks, not the cookie beside it',
    )
  },
)

await t.test(
  'who asks: Authorization wins over the cookie, and each wrong one has its answer',
  async (t) => {
    const site = await openSite(t)
    await site.addUser()
    const cookie = await site.session()
    const { key } = await site.mintKey({ scopes: ['keys:read'] })
    const ask = async (headers: Record<string, string>, query = ''): Promise<string> =>
      codeOf(await site.ask('GET', `/v1/session${query}`, { headers }))

    t.equal(await ask({}), '401 missing_credentials')
    t.equal(await ask({ cookie, authorization: `Bearer ${key}` }), '403 session_required')
    t.equal(await ask({ cookie, authorization: `bEARER ${TOKEN}` }), '403 session_required')
    t.equal(await ask({ cookie, authorization: `Bearer ${TOKEN}x` }), '401 invalid_key')
    t.equal(await ask({ cookie, authorization: `Bearer ${key}x` }), '401 invalid_key')
    t.equal(await ask({ cookie, authorization: 'Basic b3duZXI6' }), '401 missing_credentials')
    t.equal(await ask({ cookie, authorization: 'Bearer' }), '401 missing_credentials')
    t.equal(await ask({ authorization: `Bearer ${cookie.slice(8)}` }), '401 invalid_key')
    t.equal(await ask({ cookie: `keyhook=${key}` }), '401 session_expired')
    t.equal(await ask({}, `?api_key=${key}&access_token=${key}`), '401 missing_credentials')

    for (const operatorToken of [undefined, '']) {
      const resolver = createResolver({ platform: site.platform, operatorToken })
      const closed = await serve(t, site.platform, site.passwords, resolver)
      for (const authorization of [`Bearer ${TOKEN}`, 'Bearer undefined']) {
        t.equal(
          codeOf(await closed('GET', '/v1/accounts', { headers: { authorization } })),
          '401 invalid_key',
        )
      }
      t.equal(
        codeOf(await closed('GET', '/v1/accounts', { headers: { authorization: 'Bearer ' } })),
        '401 missing_credentials',
      )
    }
  },
)

await t.test(
  'no row and no answer holds a password, a session’s value or a setup token',
  async (t) => {
    const site = await openSite(t)
    const token = setupTokenOf(await ensureFirstUser(site.platform, { baseUrl: site.baseUrl }))
    const answers: Answer<AnyBody>[] = []
    const keep = async (answer: Promise<Answer<AnyBody>>): Promise<Answer<AnyBody>> => {
      answers.push(await answer)
      return answer
    }
    const body = { token, email: EMAIL, password: PASSWORD }
    const cookie = cookieOf(await keep(site.ask('POST', '/v1/setup', { body })))
    await keep(site.signIn())
    await keep(site.signIn(`${PASSWORD} wrong`))
    await keep(site.asOperator('POST', '/v1/users', { email: 'b@x.org', password: PASSWORD }))
    await keep(
      site.asOperator('POST', '/v1/users/reset-password', { email: EMAIL, password: PASSWORD }),
    )
    await keep(site.asOperator('POST', '/v1/users', { email: 'c', password: PASSWORD }))
    const said = answers.map((answer) => JSON.stringify(answer.body)).join()
    t.notMatch(said, PASSWORD)
    t.notMatch(said, '$scrypt$')

    const files = await Promise.all(
      ['keyhook.sqlite', 'keyhook.sqlite-wal'].map((name) => readFile(`${t.testdirName}/${name}`)),
    )
    const rows = Buffer.concat(files)
    t.ok(rows.includes('$scrypt$'), 'the rows are in what is searched')
    for (const secret of [PASSWORD, token, cookie.slice('keyhook='.length), TOKEN]) {
      t.notOk(rows.includes(secret))
    }
  },
)
