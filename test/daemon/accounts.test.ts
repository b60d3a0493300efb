import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Script } from 'node:vm'
import Koa from 'koa'
import t from 'tap'
import { createAccountsFamily } from '../../daemon/families/accounts/family.ts'
import { ensureFirstUser } from '../../daemon/families/accounts/first-user.ts'
import { createGate } from '../../daemon/families/accounts/gate.ts'
import type { Passwords } from '../../daemon/families/accounts/password.ts'
import { createPasswords } from '../../daemon/families/accounts/password.ts'
import { createThrottle } from '../../daemon/families/accounts/throttle.ts'
import { keysFamily } from '../../daemon/families/keys/family.ts'
import { mount } from '../../daemon/http/mount.ts'
import { createControlResolver, createResolver } from '../../daemon/http/resolve.ts'
import { sessionCookie } from '../../daemon/families/accounts/session-cookie.ts'
import type { PrincipalResolver, RequestState } from '../../daemon/http/state.ts'
import type { Platform } from '../../daemon/platform.ts'
import { servePages } from '../../daemon/studio/serve.ts'
import { SETUP_PAGE } from '../../daemon/studio/setup-page.ts'
import { DAY, MINUTE } from '../../lib/time.ts'
import { openSqliteStore } from '../../plugins/store/open.ts'
import type { VirtualClock } from '../support/clock.ts'
import { createClock } from '../support/clock.ts'
import type { Answer, AnyBody, World } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

const START = Date.UTC(2026, 0, 31)
const TOKEN = 'operator-token-of-the-tests'
const EMAIL = 'owner@example.com'
const PASSWORD = 'correct horse battery'
const CHEAP = { ln: 4, r: 8, p: 1 }

type TestScope = Parameters<typeof createWorld>[0]

/** A world whose callers are told from each other as the daemon does. */
interface Site extends World {
  readonly clock: VirtualClock
  readonly passwords: Passwords
  /** Asks with these headers alone. */
  ask<Body = AnyBody>(method: string, path: string, asking?: Asking): Promise<Answer<Body>>
  asOperator<Body = AnyBody>(
    method: string,
    path: string,
    body?: unknown,
    account?: string,
  ): Promise<Answer<Body>>
  addUser(email?: string, password?: string): Promise<{ id: string; account_id: string }>
  signIn(password?: string, email?: string): Promise<Answer<AnyBody>>
  /** Signs in and answers the `Cookie` header of the session. */
  session(): Promise<string>
}

interface Asking {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

async function openSite(
  test: TestScope,
  passwords = createPasswords({ cost: CHEAP }),
): Promise<Site> {
  const clock = createClock(START)
  const world = await createWorld(test, {
    clock,
    families: [createAccountsFamily({ passwords })],
    resolve: (platform) => createResolver({ platform, operatorToken: TOKEN }),
  })
  const ask: Site['ask'] = (method, path, asking) =>
    world.request(method, path, { as: null, ...asking })
  const asOperator: Site['asOperator'] = (method, path, body, account) =>
    world.request(method, path, {
      as: TOKEN,
      body,
      headers: account === undefined ? {} : { 'keyhook-account': account },
    })
  const signIn: Site['signIn'] = (password = PASSWORD, email = EMAIL) =>
    ask('POST', '/v1/session', { body: { email, password } })
  return {
    ...world,
    clock,
    passwords,
    ask,
    asOperator,
    signIn,
    async addUser(email = EMAIL, password = PASSWORD) {
      const made = await asOperator<{ id: string; account_id: string }>('POST', '/v1/users', {
        email,
        password,
      })
      if (made.status !== 201) throw new Error(`no user: ${JSON.stringify(made.body)}`)
      return made.body
    },
    async session() {
      return cookieOf(await signIn())
    },
  }
}

function cookieOf({ status, headers }: Pick<Answer<unknown>, 'status' | 'headers'>): string {
  const [cookie] = headers.getSetCookie()
  if (status !== 200 || cookie === undefined) throw new Error(`not signed in: ${status}`)
  return cookie.split(';', 1)[0] ?? ''
}

function codeOf({ status, body }: Answer<AnyBody>): string {
  const { error } = body as { error?: { code: string } }
  return error === undefined ? String(status) : `${status} ${error.code}`
}

/** The same platform behind another way in. */
async function serve(
  test: TestScope,
  platform: Platform,
  passwords: Passwords,
  resolve: PrincipalResolver,
): Promise<(method: string, path: string, asking?: Asking) => Promise<Answer<AnyBody>>> {
  const app = new Koa<RequestState>()
  app.silent = true
  app.use(servePages())
  app.use(
    mount({
      platform,
      families: [createAccountsFamily({ passwords }), keysFamily],
      resolve,
      rateLimits: { reads: 0, writes: 0 },
      onError: () => undefined,
    }),
  )
  const answer = app.callback()
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.teardown(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return async (method, path, { body, headers = {} } = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        ...headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: (text.startsWith('{') ? JSON.parse(text) : { text }) as AnyBody,
    }
  }
}

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
      ...inner,
      check(password, kept) {
        checked.push(kept)
        return inner.check(password, kept)
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

    const site = await openSite(t, createPasswords({ cost: { ...CHEAP, ln: 5 } }))
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

await t.test('hashing: two at once, twenty wait, more are told to come again', async (t) => {
  const gate = createGate({ atOnce: 2, waiting: 20 })
  const finish: (() => void)[] = []
  let running = 0
  let most = 0
  const work = async (): Promise<void> => {
    running += 1
    most = Math.max(most, running)
    await new Promise<void>((resolve) => finish.push(resolve))
    running -= 1
  }
  const runs = Array.from({ length: 22 }, () => gate(work))
  await t.rejects(gate(work), { code: 'rate_limited', details: { retry_after: 2 } })
  const all = Promise.all(runs)
  let done = false
  void all.then(() => (done = true))
  while (!done) {
    finish.shift()?.()
    await new Promise(setImmediate)
  }
  t.equal(most, 2)
  await t.rejects(
    gate(() => Promise.reject(new Error('failed'))),
    { message: 'failed' },
  )
  t.equal(await gate(() => Promise.resolve('free again')), 'free again')
})

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
  t.match(onLoopback, /^keyhook=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/)

  const https = { ...site.platform, baseUrl: 'https://keys.example.com' }
  const resolver = createResolver({ platform: https, operatorToken: undefined })
  const overHttps = await serve(t, https, site.passwords, resolver)
  const body = { email: EMAIL, password: PASSWORD }
  const signedIn = await overHttps('POST', '/v1/session', { body })
  t.match(signedIn.headers.getSetCookie(), [
    /^__Host-keyhook=[\w-]{43}; Path=\/; Max-Age=2592000; Secure; HttpOnly; SameSite=Lax$/,
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
    t.equal(await create({}), '403 csrf_failed')
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
    'keyhook=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict',
  ])
  t.equal(codeOf(await site.ask('GET', '/v1/session', { headers })), '401 session_expired')
  t.equal((await site.ask('GET', '/v1/session', { headers: { cookie: other } })).status, 200)
})

await t.test('a session ends after 30 days, however much it is used', async (t) => {
  const site = await openSite(t)
  await site.addUser()
  const headers = { cookie: await site.session() }
  await site.clock.advance(30 * DAY - 1)
  t.equal((await site.ask('GET', '/v1/session', { headers })).status, 200)
  await site.clock.advance(1)
  t.equal(codeOf(await site.ask('GET', '/v1/session', { headers })), '401 session_expired')
  const made = { cookie: `keyhook=${'A'.repeat(43)}` }
  t.equal(codeOf(await site.ask('GET', '/v1/session', { headers: made })), '401 session_expired')
})

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
    }),
  )
  const headers = { cookie: 'keyhook=value' }
  t.equal(codeOf(await site.ask('GET', '/v1/session', { headers })), '403 account_suspended')
})

await t.test(
  'the setup link makes the first user once: of concurrent claims one wins',
  async (t) => {
    const site = await openSite(t)
    const { baseUrl } = site
    const stale = tokenOf(await ensureFirstUser(site.platform, { baseUrl }))
    const link = await ensureFirstUser(site.platform, { baseUrl })
    t.match(link, /^http:\/\/127\.0\.0\.1:\d+\/studio\/setup#token=[\w-]{43}$/)
    const claim = (token: string, email: string): Promise<Answer<AnyBody>> =>
      site.ask('POST', '/v1/setup', { body: { token, email, password: PASSWORD } })

    t.equal(codeOf(await claim(stale, EMAIL)), '403 setup_closed', 'a newer link ends the older')
    t.equal(codeOf(await claim('unknown', EMAIL)), '403 setup_closed')
    const token = tokenOf(link)
    const claims = await Promise.all(['a', 'b', 'c'].map((name) => claim(token, `${name}@x.org`)))
    const winners = claims.filter(({ status }) => status === 200)
    t.equal(winners.length, 1)
    t.strictSame(claims.filter(({ status }) => status !== 200).map(codeOf), [
      '403 setup_closed',
      '403 setup_closed',
    ])
    const [winner] = winners
    const headers = { cookie: winner === undefined ? '' : cookieOf(winner) }
    const session = await site.ask('GET', '/v1/session', { headers })
    t.strictSame(session.body, winner?.body, 'the winner is signed in')
    t.equal(codeOf(await claim(token, EMAIL)), '403 setup_closed')
    t.equal(await ensureFirstUser(site.platform, { baseUrl }), undefined)
  },
)

await t.test('a setup link is dead after an hour, and once a user exists', async (t) => {
  const inner = createPasswords({ cost: CHEAP })
  let hashed: () => Promise<unknown> = () => Promise.resolve()
  const site = await openSite(t, {
    ...inner,
    async hash(password) {
      const hash = await inner.hash(password)
      await hashed()
      return hash
    },
  })
  const open = async (): Promise<string> =>
    tokenOf(await ensureFirstUser(site.platform, { baseUrl: site.baseUrl }))
  const claim = async (token: string): Promise<string> => {
    const body = { token, email: 'late@example.com', password: PASSWORD }
    return codeOf(await site.ask('POST', '/v1/setup', { body }))
  }
  const expired = await open()
  await site.clock.advance(60 * MINUTE)
  t.equal(await claim(expired), '403 setup_closed')
  const token = await open()
  hashed = () => {
    hashed = () => Promise.resolve()
    return site.addUser()
  }
  t.equal(await claim(token), '403 setup_closed', 'a user was made while the password was hashed')
  t.equal(await claim(token), '403 setup_closed')
  t.equal(await site.platform.store.accounts.userByEmail('late@example.com'), undefined)
})

await t.test(
  'the first user of the environment is made once by two daemons that start at once',
  async (t) => {
    const site = await openSite(t)
    const opened = await openSqliteStore(`${t.testdirName}/keyhook.sqlite`)
    t.teardown(() => opened.store.close())
    const second: Platform = { ...site.platform, store: opened.store }
    const { baseUrl, passwords } = site
    const options = { email: 'Owner@example.com', password: PASSWORD, baseUrl, passwords }
    const before = (await accountsOf(site)).length
    const links = await Promise.all([
      ensureFirstUser(site.platform, options),
      ensureFirstUser(second, { ...options, email: 'second@example.com' }),
    ])
    t.strictSame(links, [undefined, undefined])
    t.equal((await accountsOf(site)).length, before + 1)
    const users = await Promise.all(
      [EMAIL, 'second@example.com'].map((email) => site.platform.store.accounts.userByEmail(email)),
    )
    const [made, ...more] = users.filter((user) => user !== undefined)
    t.strictSame(more, [])
    t.equal((await site.signIn(PASSWORD, made?.email)).status, 200)
  },
)

await t.test('a first user who could not sign in later is refused at the start', async (t) => {
  const site = await openSite(t)
  const refuse = (email: string, password: string): Promise<unknown> =>
    t.rejects(ensureFirstUser(site.platform, { email, password, baseUrl: site.baseUrl }), {
      message: /^The first user cannot be created\. /,
    })
  await refuse(EMAIL, 'too short')
  await refuse('no address', PASSWORD)
  t.notOk(await site.platform.store.accounts.anyUser())
})

await t.test('the operator acts for the account that the header names', async (t) => {
  const site = await openSite(t)
  const body = { name: 'by the operator', scopes: ['apps:read'] }
  t.equal(codeOf(await site.asOperator('POST', '/v1/keys', body)), '400 account_required')
  t.equal(
    codeOf(await site.asOperator('POST', '/v1/keys', body, 'unknown')),
    '404 account_not_found',
  )
  const made = await site.asOperator('POST', '/v1/keys', body, site.account.id)
  t.equal(made.status, 201)
  t.strictSame(made.body['created_by'], { type: 'operator', id: null })
  const kept = await site.platform.store.keys.get(site.account.id, String(made.body['id']))
  t.equal(kept?.name, 'by the operator')
})

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

await t.test('accounts and users are the operator’s alone', async (t) => {
  const site = await openSite(t)
  await site.addUser()
  const headers = { cookie: await site.session(), 'sec-fetch-site': 'same-origin' }
  const { key } = await site.mintKey({ scopes: ['*:*'] })
  const credentials = { email: 'x@example.com', password: PASSWORD }
  for (const [method, path, body] of [
    ['GET', '/v1/accounts', undefined],
    ['GET', `/v1/accounts/${site.account.id}`, undefined],
    ['POST', '/v1/accounts', { name: 'mine' }],
    ['POST', '/v1/users', credentials],
    ['POST', '/v1/users/reset-password', credentials],
    ['POST', '/v1/users/plan', { email: EMAIL, plan: 'pro' }],
  ] as const) {
    const byUser = await site.ask(method, path, { headers, body })
    t.equal(codeOf(byUser), '403 operator_required', `${method} ${path} by a user`)
    const byKey = await site.request(method, path, { as: key, body })
    t.equal(codeOf(byKey), '403 operator_required', `${method} ${path} by a key`)
  }
})

await t.test(
  'the control socket acts for the only account there is, or for the one named',
  async (t) => {
    const site = await openSite(t)
    const control = await serve(
      t,
      site.platform,
      site.passwords,
      createControlResolver(site.platform),
    )
    const keys = async (headers = {}): Promise<string> =>
      codeOf(await control('GET', '/v1/keys', { headers }))
    t.equal(await keys(), '200')
    const other = await site.addAccount()
    t.equal(await keys(), '400 account_required')
    t.equal(await keys({ 'keyhook-account': other.id }), '200')
    t.equal(await keys({ 'keyhook-account': 'unknown' }), '404 account_not_found')
    t.equal(codeOf(await control('GET', '/v1/accounts')), '200')
  },
)

await t.test('accounts are created under a given id or a new one, read and listed', async (t) => {
  const site = await openSite(t)
  const given = await site.asOperator('POST', '/v1/accounts', { name: 'Acme', id: 'acme-1' })
  t.equal(given.status, 201)
  t.match(given.body, { id: 'acme-1', name: 'Acme', plan: 'pro', suspended_at: null })
  const again = await site.asOperator('POST', '/v1/accounts', { name: 'Acme', id: 'acme-1' })
  t.equal(codeOf(again), '409 account_exists')
  t.equal((await site.asOperator('POST', '/v1/accounts', { name: 'Acme' })).status, 201)
  for (const id of ['', 'a b', 'a/b', 'ä', 'x'.repeat(65)]) {
    const refused = await site.asOperator('POST', '/v1/accounts', { name: 'Acme', id })
    t.equal(codeOf(refused), '400 invalid_request', `"${id}"`)
  }
  t.strictSame((await site.asOperator('GET', '/v1/accounts/acme-1')).body, given.body)
  t.equal(codeOf(await site.asOperator('GET', '/v1/accounts/nobody')), '404 account_not_found')

  const seen: string[] = []
  let query = '?limit=1'
  for (let more = true; more;) {
    const { body } = await site.asOperator<Page>('GET', `/v1/accounts${query}`)
    seen.push(...body.data.map(({ id }) => id))
    query = `?limit=1&cursor=${body.next_cursor}`
    more = body.has_more
  }
  t.equal(seen.length, 3)
  t.strictSame(seen, seen.toSorted().toReversed())
})

await t.test('users join the account named, or get one of their own', async (t) => {
  const site = await openSite(t)
  const create = (body: object): Promise<Answer<AnyBody>> =>
    site.asOperator('POST', '/v1/users', { password: PASSWORD, ...body })
  const own = await create({ email: EMAIL })
  t.equal(own.status, 201)
  t.not(own.body['account_id'], site.account.id)
  const joined = await create({ email: 'second@example.com', account_id: site.account.id })
  t.equal(joined.body['account_id'], site.account.id)
  t.equal(
    codeOf(await create({ email: 'third@example.com', account_id: 'unknown' })),
    '404 account_not_found',
  )
  const before = (await accountsOf(site)).length
  t.equal(codeOf(await create({ email: 'OWNER@example.com' })), '409 email_taken')
  t.equal((await accountsOf(site)).length, before, 'no account is left over')
})

await t.test('addresses and passwords that make no sense are refused', async (t) => {
  const site = await openSite(t)
  const create = async (email: string, password: string): Promise<string> =>
    codeOf(await site.asOperator('POST', '/v1/users', { email, password }))
  const faulty = ['', 'x', '@x.org', 'a@', 'a b@x.org', 'a@x..org', 'a@x.org\n', 'a@b@x.org']
  for (const email of [...faulty, `${'a'.repeat(65)}@x.org`, `a@${'x.'.repeat(130)}org`]) {
    t.equal(await create(email, PASSWORD), '400 invalid_request', JSON.stringify(email))
  }
  for (const password of [
    '',
    'elevenchars',
    '😀'.repeat(11),
    'x'.repeat(129),
    '\ud800'.repeat(12),
  ]) {
    t.equal(await create(EMAIL, password), '400 invalid_request', password.slice(0, 12))
  }
  t.equal(await create('müller+keys@bücher.example', '😀'.repeat(12)), '201')
  t.equal(await create('admin@localhost', '😀'.repeat(128)), '201')
  t.equal((await site.signIn('😀'.repeat(128), 'admin@localhost')).status, 200)
})

await t.test('a free account mints no keys; those it has work on and rotate', async (t) => {
  const site = await openSite(t)
  const { account_id } = await site.addUser()
  const headers = { cookie: await site.session(), 'sec-fetch-site': 'same-origin' }
  const body = { name: 'a key', scopes: ['keys:*'] }
  const made = await site.ask('POST', '/v1/keys', { body, headers })
  const free = await site.asOperator('POST', '/v1/users/plan', { email: EMAIL, plan: 'free' })
  t.match(free.body, { id: account_id, plan: 'free' })

  const minted = await site.ask('POST', '/v1/keys', { body, headers })
  t.equal(codeOf(minted), '403 dev_api_not_enabled')
  const key = String(made.body['key'])
  t.equal((await site.request('GET', '/v1/keys', { as: key })).status, 200)
  const path = `/v1/keys/${String(made.body['id'])}/rotate`
  const rotated = await site.request('POST', path, { as: key })
  t.equal(rotated.status, 201)
  t.equal((await site.request('GET', '/v1/keys', { as: String(rotated.body['key']) })).status, 200)

  await site.asOperator('POST', '/v1/users/plan', { email: EMAIL, plan: 'pro' })
  t.equal((await site.ask('POST', '/v1/keys', { body, headers })).status, 201)
  const unknown = { email: 'nobody@example.com', plan: 'pro' }
  t.equal(codeOf(await site.asOperator('POST', '/v1/users/plan', unknown)), '404 user_not_found')
})

await t.test(
  'a new password ends every session, one that is being opened with the old included',
  async (t) => {
    const inner = createPasswords({ cost: CHEAP })
    let checked: () => Promise<void> = () => Promise.resolve()
    const site = await openSite(t, {
      ...inner,
      async check(password, kept) {
        const result = await inner.check(password, kept)
        await checked()
        return result
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

await t.test(
  'no row and no answer holds a password, a session’s value or a setup token',
  async (t) => {
    const site = await openSite(t)
    const token = tokenOf(await ensureFirstUser(site.platform, { baseUrl: site.baseUrl }))
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

await t.test(
  'the setup page comes with its files, and lets nothing of another origin in',
  async (t) => {
    const site = await openSite(t)
    const page = await serve(t, site.platform, site.passwords, createControlResolver(site.platform))
    const html = SETUP_PAGE.get('/studio/setup')?.text ?? ''
    t.notMatch(html, /<style|style=|<script(?![^>]*src=)|\son\w+=|https?:/)
    const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => String(link))
    const paths = links.map((link) => new URL(link, 'http://x/studio/setup').pathname)
    t.strictSame(['/studio/setup', ...paths], [...SETUP_PAGE.keys()])
    for (const path of SETUP_PAGE.keys()) {
      const { status, headers } = await page('GET', path)
      t.equal(status, 200, path)
      t.equal(
        headers.get('content-security-policy'),
        "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
      )
      t.equal(headers.get('x-content-type-options'), 'nosniff')
      t.equal(headers.get('referrer-policy'), 'no-referrer')
    }
    for (const field of ['email', 'password']) t.match(html, `<label for="${field}">`)
    t.match(html, 'role="alert"')
    t.equal((await page('POST', '/studio/setup')).status, 404)
    t.equal((await page('GET', '/studio/setup/../serve.ts')).status, 404)
  },
)

await t.test('the setup page sends what the form holds, and announces how it went', async (t) => {
  const script = new Script(`(async () => {${SETUP_PAGE.get('/studio/setup/setup.js')?.text}})()`)
  const element = (id: string): FakeElement => ({ id, hidden: false, textContent: '', focused: 0 })
  const elements = new Map(
    ['setup', 'create', 'problem', 'done', 'status'].map((id) => [id, element(id)]),
  )
  const find = (id: string): FakeElement => elements.get(id) ?? element(id)
  find('done').hidden = true
  let submit: ((event: object) => Promise<void>) | undefined
  const asked: unknown[] = []
  const answers = [
    { ok: false, error: { message: 'Refused.', errors: [{ message: 'Too short.' }] } },
    { ok: true },
  ]
  const kept: string[] = []
  script.runInNewContext({
    URLSearchParams,
    location: { hash: '#token=abc', pathname: '/studio/setup' },
    history: { replaceState: (_state: null, _title: string, path: string) => kept.push(path) },
    document: {
      getElementById: (id: string) =>
        Object.assign(find(id), {
          elements: { email: { value: EMAIL }, password: { value: PASSWORD } },
          focus: () => (find(id).focused += 1),
          addEventListener: (_: string, listener: typeof submit) => (submit = listener),
        }),
    },
    fetch: (path: string, { body }: { body: string }) => {
      asked.push([path, JSON.parse(body)])
      const answer = answers.shift()
      return Promise.resolve({ ...answer, json: () => Promise.resolve(answer) })
    },
  })
  const press = { preventDefault: () => undefined }
  await submit?.(press)
  const sent = ['../v1/setup', { token: 'abc', email: EMAIL, password: PASSWORD }]
  t.match(find('problem'), { textContent: 'Refused. Too short.', focused: 1 })
  t.match(find('done'), { hidden: true })
  await submit?.(press)
  t.strictSame(asked, [sent, sent])
  t.match(find('problem'), { textContent: '' })
  t.match(find('done'), { hidden: false })
  t.match(find('setup'), { hidden: true })
  t.strictSame(kept, ['/studio/setup'], 'the token leaves the address')
})

interface FakeElement {
  readonly id: string
  hidden: boolean
  textContent: string
  focused: number
}

interface Page {
  readonly data: readonly { readonly id: string }[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

async function accountsOf(site: Site): Promise<Page['data']> {
  return (await site.asOperator<Page>('GET', '/v1/accounts')).body.data
}

function tokenOf(link: string | undefined): string {
  const token = link?.split('#token=')[1]
  if (token === undefined) throw new Error('there is no setup link')
  return token
}
