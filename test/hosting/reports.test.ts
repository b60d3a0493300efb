import { createContext, runInContext } from 'node:vm'
import type { Test } from 'tap'
import t from 'tap'
import { createBudget } from '../../daemon/hosting/internal-routes.ts'
import { clockOf } from '../../daemon/machine/ports.ts'
import { parseCidr } from '../../lib/egress/address.ts'
import { html } from '../support/hosted-apps.ts'
import type { Hosting } from '../support/hosting.ts'
import { DEPLOYMENT, openHosting } from '../support/hosting.ts'
import type { RawAnswer } from '../support/raw-http.ts'
import { openRaw } from '../support/raw-http.ts'
import { ask, get } from './rows/row.ts'

const HOST = 'shop.localhost'
const OWN = { 'Sec-Fetch-Site': 'same-origin', Origin: `http://${HOST}:8421` }

type Headers = Readonly<Record<string, string>>

async function open(test: Test, given: Parameters<typeof openHosting>[1] = {}) {
  const hosting = await openHosting(test, given)
  await hosting.publish(HOST, { app_id: 'shop0001', tree: { 'index.html': html('shop') } })
  await hosting.publish('other.localhost', { app_id: 'other001', tree: {} })
  return hosting
}

async function send(
  { port }: Hosting,
  place: 'beacon' | 'reports',
  body: unknown,
  headers: Headers = OWN,
  host: string = HOST,
): Promise<RawAnswer | undefined> {
  const connection = await openRaw(port)
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const type = place === 'beacon' ? 'text/plain;charset=UTF-8' : 'application/reports+json'
  const length = String(Buffer.byteLength(text))
  const all = { Host: host, 'Content-Type': type, 'Content-Length': length, ...headers }
  connection.send(Buffer.from(ask('POST', `/_p/${place}`, all, text)))
  const answer = await connection.answer()
  connection.destroy()
  return answer
}

const error = (changes: object = {}) => ({
  type: 'error',
  message: 'x is not a function',
  stack: 'TypeError: x is not a function\n    at http://shop.localhost/app.js?v=1:3:5',
  url: `http://${HOST}/cart?token=secret#top`,
  ...changes,
})

const TOLD = {
  app_id: 'shop0001',
  type: 'error',
  message: 'x is not a function',
  stack: 'TypeError: x is not a function\n    at http://shop.localhost/app.js:3:5',
  url: `http://${HOST}/cart`,
  deployment_id: DEPLOYMENT,
}

await t.test('what a page tells of is handed on without queries', async (t) => {
  const hosting = await open(t)
  const answer = await send(hosting, 'beacon', { release: DEPLOYMENT, reports: [error()] })
  t.equal(answer?.status, 204)
  t.strictSame(hosting.reported, [TOLD])
})

await t.test('a report that is none leaves the others, and all is cut', async (t) => {
  const hosting = await open(t)
  const long = `${'m'.repeat(999)}\u{1F600}`
  await send(hosting, 'beacon', {
    release: 'not a deployment',
    reports: [
      null,
      error({ type: 'other' }),
      error({ url: 'javascript:alert(1)' }),
      error({ url: 'nowhere' }),
      error({ message: 7 }),
      error({ message: long, stack: 's'.repeat(9000), extra: true }),
      error({ type: 'console', stack: null, message: 'a\u0007b\nsee https://a.example/?q=1, ok' }),
      ...Array.from({ length: 40 }, () => error({ type: 'unhandledrejection', stack: undefined })),
    ],
  })
  const [first, second, ...others] = hosting.reported
  t.equal(first?.message, `${'m'.repeat(999)}\ufffd`)
  t.equal(first?.stack?.length, 4000)
  t.equal(first?.deployment_id, null)
  t.match(second, { message: 'ab\nsee https://a.example/ ok', stack: null })
  t.equal(others.length, 13, 'twenty were looked at')
  t.match(others[0], { type: 'unhandledrejection', stack: null })
})

const VIOLATION = {
  type: 'csp-violation',
  age: 3,
  url: `http://${HOST}/page?a=b`,
  user_agent: 'a browser',
  body: { effectiveDirective: 'img-src', blockedURL: 'https://evil.example/x.png?y=1' },
}

await t.test('reports of browsers themselves are taken in both forms', async (t) => {
  const hosting = await open(t)
  await send(hosting, 'reports', [
    VIOLATION,
    { type: 'deprecation', url: `http://${HOST}/`, body: { message: 'old', id: 'x' } },
    { type: 'crash', url: `http://${HOST}/`, body: { reason: 'oom' } },
    { type: 'crash', url: `http://${HOST}/`, body: {} },
    { type: 'network-error', url: `http://${HOST}/`, body: {} },
    { type: 'constructor', url: `http://${HOST}/`, body: {} },
    { type: 'csp-violation', url: `http://${HOST}/`, body: null },
  ])
  const older = {
    'csp-report': {
      'document-uri': `http://${HOST}/page?a=b`,
      'violated-directive': 'script-src',
      'blocked-uri': '',
      'source-file': 'https://a.example/lib.js',
    },
  }
  await send(hosting, 'reports', older, { ...OWN, 'Content-Type': 'application/csp-report' })
  t.strictSame(
    hosting.reported.map(({ type, message, url }) => [type, message, url]),
    [
      ['csp', 'img-src blocked https://evil.example/x.png', `http://${HOST}/page`],
      ['deprecation', 'old', `http://${HOST}/`],
      ['crash', 'The page crashed: oom', `http://${HOST}/`],
      ['crash', 'The page crashed: no reason is known', `http://${HOST}/`],
      ['csp', 'script-src blocked something in https://a.example/lib.js', `http://${HOST}/page`],
    ],
  )
})

/** Each is answered as any other, and nothing is made of it. */
const IGNORED: readonly (readonly [name: string, headers: Headers, body?: string])[] = [
  ['a page of another site', { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }],
  ['a page of another app', { 'Sec-Fetch-Site': 'same-site', Origin: 'http://other.localhost' }],
  ['another origin, where the browser says no more', { Origin: 'http://other.localhost:8421' }],
  ['an origin that begins alike', { Origin: `http://${HOST}.evil.example` }],
  ['an origin with credentials', { Origin: `http://${HOST}@evil.example` }],
  ['a page without an origin', { 'Sec-Fetch-Site': 'same-origin', Origin: 'null' }],
  ['no page at all', {}],
  ['a form', { ...OWN, 'Content-Type': 'application/x-www-form-urlencoded' }],
  ['a body that is packed', { ...OWN, 'Content-Encoding': 'gzip' }],
  ['what is no JSON', OWN, '{"reports":['],
  ['what is nested too deeply', OWN, `{"reports":${'['.repeat(1000)}${']'.repeat(1000)}}`],
  ['what is no beacon', OWN, '[]'],
  ['reports that are no list', OWN, '{"reports":{}}'],
]

for (const [name, headers, body] of IGNORED) {
  await t.test(`not looked at: ${name}`, async (t) => {
    const hosting = await open(t)
    const given = body ?? { release: DEPLOYMENT, reports: [error()] }
    t.equal((await send(hosting, 'beacon', given, headers))?.status, 204)
    t.strictSame(hosting.reported, [])
  })
}

await t.test('a body beyond 64 KiB is not read to its end', async (t) => {
  const hosting = await open(t)
  const large = JSON.stringify({ reports: [error({ stack: 's'.repeat(70_000) })] })
  const announced = await send(hosting, 'beacon', large)
  t.equal(announced?.status, 204)
  t.strictSame(announced?.headers.get('connection'), ['close'])

  const connection = await openRaw(hosting.port)
  const head = { Host: HOST, 'Content-Type': 'text/plain', ...OWN, 'Transfer-Encoding': 'chunked' }
  connection.send(ask('POST', '/_p/beacon', head))
  const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`
  for (let sent = 0; sent < 5; sent++) connection.send(chunk)
  const endless = await connection.answer()
  t.equal(endless?.status, 204)
  await connection.closed()
  t.strictSame(hosting.reported, [])
})

await t.test('a body that is cut off tells nothing, and holds up nobody', async (t) => {
  // A minute goes by with each, so that none of them is one too many.
  let now = 0
  const hosting = await open(t, { clock: { ...clockOf({}), steady: () => (now += 60_000) } })
  for (let times = 0; times < 300; times++) {
    const connection = await openRaw(hosting.port)
    const head = { Host: HOST, 'Content-Type': 'text/plain', ...OWN, 'Content-Length': '100' }
    connection.send(ask('POST', '/_p/beacon', head, '{'))
    connection.destroy()
    await connection.closed()
  }
  await send(hosting, 'beacon', { reports: [error()] }, OWN, 'other.localhost')
  t.strictSame(hosting.reported, [], 'an origin that is not its own')
  const other = { ...OWN, Origin: 'http://other.localhost' }
  const reports = [error({ url: 'http://other.localhost/' })]
  await send(hosting, 'beacon', { reports }, other, 'other.localhost')
  t.match(hosting.reported, [{ app_id: 'other001' }])
})

await t.test('one address has so many reports a minute for an app', async (t) => {
  let now = 0
  const hosting = await open(t, { clock: { ...clockOf({}), steady: () => now } })
  const tell = () => send(hosting, 'beacon', { reports: [error()] })
  for (let times = 0; times < 35; times++) t.equal((await tell())?.status, 204)
  t.equal(hosting.reported.length, 30)
  const reports = [error({ url: 'http://other.localhost/' })]
  const origin = { Origin: 'http://other.localhost' }
  await send(hosting, 'beacon', { reports }, origin, 'other.localhost')
  t.equal(hosting.reported.length, 31, 'those of another app are counted apart')
  now += 2000
  await tell()
  await tell()
  t.equal(hosting.reported.length, 32, 'one more two seconds later')
  now += 3 * 60_000
  for (let times = 0; times < 35; times++) await tell()
  t.equal(hosting.reported.length, 62)
})

await t.test('behind a proxy each visitor has as many', async (t) => {
  const proxy = parseCidr('127.0.0.0/8')
  const hosting = await open(t, { trustedProxies: proxy === undefined ? [] : [proxy] })
  const tell = (from: string) =>
    send(hosting, 'beacon', { reports: [error()] }, { ...OWN, 'X-Forwarded-For': from })
  for (let times = 0; times < 31; times++) await tell('192.0.2.1')
  t.equal(hosting.reported.length, 30)
  await tell('192.0.2.2')
  t.equal(hosting.reported.length, 31)
  for (let times = 0; times < 31; times++) await tell(`2001:db8::${times.toString(16)}`)
  t.equal(hosting.reported.length, 61, 'one network of IPv6 is one visitor')
})

await t.test('who is new is served however many are known', async (t) => {
  const { spend } = createBudget(2, { steady: () => 0 }, 10)
  t.strictSame([spend('a'), spend('a'), spend('a')], [true, true, false])
  const others = Array.from({ length: 100 }, (_, index) => spend(`network ${index}`))
  t.notOk(others.includes(false))
  t.notOk(spend('a'), 'who spent all is remembered')
})

await t.test(
  'the script tells of what happens on its page, and no more than ten times',
  async (t) => {
    const hosting = await open(t)
    const connection = await openRaw(hosting.port)
    connection.send(get('/_p/obs.js'))
    const script = await connection.answer()
    t.match(script?.headers.get('cache-control')?.join() ?? '', 'must-revalidate')
    const tag = script?.headers.get('etag')?.join() ?? ''
    connection.send(get('/_p/obs.js', { 'If-None-Match': tag }))
    t.equal((await connection.answer())?.status, 304)
    connection.destroy()

    const listeners = new Map<string, (event: object) => void>()
    const beacons: [place: string, text: string][] = []
    const timers: (() => void)[] = []
    const add = (name: string, listener: (event: object) => void): void => {
      listeners.set(name, listener)
    }
    const page = {
      addEventListener: add,
      document: { addEventListener: add, visibilityState: 'hidden' },
      navigator: { sendBeacon: (place: string, text: string) => beacons.push([place, text]) },
      location: { origin: `http://${HOST}`, pathname: '/cart' },
      setTimeout: (run: () => void) => timers.push(run),
      clearTimeout: () => undefined,
    }
    const context = createContext(page)
    for (let times = 0; times < 2; times++) runInContext(script?.body.toString() ?? '', context)
    const happen = (name: string, event: object): void => listeners.get(name)?.(event)
    const cause = Object.assign(new Error('broken'), { stack: 'Error: broken\n at a.js:1:2' })
    happen('error', { message: 'Uncaught Error: broken', error: cause })
    happen('unhandledrejection', { reason: 'a text' })
    t.strictSame(beacons, [], 'they are gathered')
    timers.shift()?.()
    happen('unhandledrejection', { reason: cause })
    happen('pagehide', {})
    for (let times = 0; times < 20; times++) happen('error', { message: 'again' })
    happen('visibilitychange', {})
    happen('visibilitychange', {})
    t.strictSame(
      beacons.map(([place]) => place),
      Array(3).fill(`http://${HOST}/_p/beacon`),
    )
    for (const [, text] of beacons) await send(hosting, 'beacon', text)
    t.equal(hosting.reported.length, 10)
    t.match(hosting.reported.slice(0, 4), [
      {
        message: 'Uncaught Error: broken',
        stack: /a\.js/,
        url: TOLD.url,
        deployment_id: DEPLOYMENT,
      },
      { type: 'unhandledrejection', message: 'a text', stack: null },
      { type: 'unhandledrejection', message: 'broken' },
      { type: 'error', message: 'again', stack: null },
    ])
  },
)
