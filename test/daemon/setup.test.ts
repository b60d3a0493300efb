import { Script } from 'node:vm'
import t from 'tap'
import { ensureFirstUser } from '../../daemon/families/accounts/first-user.ts'
import { createPasswords } from '../../daemon/families/accounts/password.ts'
import { createControlResolver } from '../../daemon/http/resolve.ts'
import type { Platform } from '../../daemon/platform.ts'
import { SETUP_PAGE } from '../../daemon/studio/setup-page.ts'
import { MINUTE } from '../../lib/time.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import { codeOf } from '../support/answer.ts'
import {
  CHEAP,
  EMAIL,
  PASSWORD,
  accountsOf,
  cookieOf,
  openSite,
  serve,
  setupTokenOf,
} from '../support/site.ts'
import type { Answer, AnyBody } from '../support/world.ts'

await t.test(
  'the setup link makes the first user once: of concurrent claims one wins',
  async (t) => {
    const site = await openSite(t)
    const { baseUrl } = site
    const stale = setupTokenOf(await ensureFirstUser(site.platform, { baseUrl }))
    const link = await ensureFirstUser(site.platform, { baseUrl })
    t.match(link, /^http:\/\/127\.0\.0\.1:\d+\/studio\/setup#token=[\w-]{43}$/)
    const claim = (token: string, email: string): Promise<Answer<AnyBody>> =>
      site.ask('POST', '/v1/setup', { body: { token, email, password: PASSWORD } })

    t.equal(codeOf(await claim(stale, EMAIL)), '403 setup_closed', 'a newer link ends the older')
    t.equal(codeOf(await claim('unknown', EMAIL)), '403 setup_closed')
    const token = setupTokenOf(link)
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
    passwords: {
      ...inner,
      async hash(password) {
        const hash = await inner.hash(password)
        await hashed()
        return hash
      },
    },
  })
  const open = async (): Promise<string> =>
    setupTokenOf(await ensureFirstUser(site.platform, { baseUrl: site.baseUrl }))
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
    const opened = await openPlatformStore(`${t.testdirName}/keyhook.sqlite`)
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
  t.same(await site.platform.store.accounts.withUsers(1), [])
})

await t.test(
  'the setup page comes with its files, and lets nothing of another origin in',
  async (t) => {
    const site = await openSite(t)
    const page = await serve(t, site.platform, site.passwords, createControlResolver(site.platform))
    const html = SETUP_PAGE.get('/studio/setup')?.text ?? ''
    t.notMatch(html, /<style|style=|<script(?![^>]*src=)|\son\w+=|https?:/)
    const links = [...html.matchAll(/<(?:link|script)\b[^>]*(?:src|href)="([^"]+)"/g)].map(
      ([, link]) => String(link),
    )
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
