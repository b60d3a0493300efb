import t from 'tap'
import { createOperatorSessions } from '../../daemon/authority/operator-session.ts'
import { readConfig } from '../../daemon/config/config.ts'
import { FAMILIES } from '../../daemon/families/index.ts'
import type { Operation } from '../../daemon/operations/operation.ts'
import { HOUR } from '../../lib/time.ts'
import type { AnyBody } from '../support/world.ts'
import { startDaemonProcess } from '../support/daemon.ts'

const TOKEN = 'an-operator-token-of-thirty-two-characters'
const PASSWORD = 'correct horse battery'

interface Answer {
  readonly status: number
  /** Status, and the code of a refusal. */
  readonly code: string
  readonly body: AnyBody
  readonly cookies: readonly string[]
}

type Headers = Readonly<Record<string, string>>

const data = t.testdir()
const settings = {
  KEYHOOK_DATA_DIR: data,
  KEYHOOK_OWNER_EMAIL: 'owner@example.com',
  KEYHOOK_OWNER_PASSWORD: PASSWORD,
}
let daemon = await startDaemonProcess({ ...settings, KEYHOOK_OPERATOR_TOKEN: TOKEN })
t.teardown(() => daemon.end('SIGTERM'))

async function ask(
  method: string,
  path: string,
  headers: Headers = {},
  given?: unknown,
): Promise<Answer> {
  const sent = given === undefined ? {} : { body: JSON.stringify(given) }
  const response = await fetch(daemon.url + path, {
    method,
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...headers },
    ...sent,
  })
  const text = await response.text()
  const { status } = response
  const body = (/^\s*\{/.test(text) ? JSON.parse(text) : {}) as AnyBody
  const error = body['error'] as { readonly code?: string } | undefined
  const code = error?.code === undefined ? String(status) : `${status} ${error.code}`
  return { status, code, body, cookies: response.headers.getSetCookie() }
}

/** The headers that a page of the operator's sends. */
async function open(): Promise<Headers> {
  const { status, cookies } = await ask('POST', '/v1/operator/session', {}, { token: TOKEN })
  if (status !== 200) throw new Error(`not signed in: ${status}`)
  return { cookie: cookies[0]?.split(';', 1)[0] ?? '', 'keyhook-operator': 'session' }
}

await t.test('the token is exchanged for a cookie that no script can read', async (t) => {
  const opened = await ask('POST', '/v1/operator/session', {}, { token: TOKEN })
  t.equal(opened.status, 200)
  t.equal(opened.cookies.length, 1)
  const [cookie = ''] = opened.cookies
  t.match(cookie, /^keyhook-operator=[^;]+; path=\/; expires=[^;]+; samesite=strict; httponly$/)
  t.notMatch(JSON.stringify(opened.body) + cookie, TOKEN)
  const left = Date.parse(String(opened.body['expires_at'])) - Date.now()
  t.ok(left > 0 && left <= HOUR, 'an hour at most')
  const wrong = await ask('POST', '/v1/operator/session', {}, { token: `${TOKEN}x` })
  t.equal(wrong.code, '401 invalid_operator_token')
  t.strictSame(wrong.cookies, [])
})

await t.test('wrong tokens are limited, and keep nobody out who has the right one', async (t) => {
  const codes: string[] = []
  for (let tries = 0; tries < 6; tries += 1) {
    codes.push((await ask('POST', '/v1/operator/session', {}, { token: 'not the token' })).code)
  }
  t.equal(codes.at(-1), '429 rate_limited')
  t.equal((await ask('POST', '/v1/operator/session', {}, { token: TOKEN })).status, 200)
})

await t.test('it acts only where the request says so, and for no page of elsewhere', async (t) => {
  const { cookie = '', ...asked } = await open()
  t.equal((await ask('GET', '/v1/accounts', { cookie, ...asked })).code, '200')
  t.equal((await ask('GET', '/v1/accounts', { cookie })).code, '401 missing_credentials')
  t.equal((await ask('GET', '/v1/accounts', asked)).code, '401 missing_credentials')
  const foreign = { cookie, ...asked, 'sec-fetch-site': 'same-site' }
  t.equal((await ask('POST', '/v1/accounts', foreign, { name: 'a' })).code, '403 csrf_failed')
  const metrics = await ask('GET', '/metrics', { cookie, ...asked })
  t.equal(metrics.code, '403 operator_required', 'for the token alone')
  const [name, value = ''] = cookie.split('=')
  for (const forged of [
    `${name}=${value}x`,
    `${name}=9${value}`,
    `${name}=x`,
    `keyhook=${value}`,
  ]) {
    const { status } = await ask('GET', '/v1/accounts', { cookie: forged, ...asked })
    t.equal(status, 401, forged.slice(0, 30))
  }
})

/** Operations on the session itself. */
const OWN = ['operator.session', 'operator.sign_in', 'operator.sign_out']

function pathOf({ path, example }: Operation): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => example.params?.[name] ?? 'none')
}

await t.test('whatever the token is refused, the session is refused too', async (t) => {
  const session = await open()
  const token = { authorization: `Bearer ${TOKEN}` }
  const refused: string[] = []
  for (const operation of FAMILIES.flatMap(({ operations }) => operations)) {
    if (OWN.includes(operation.id)) continue
    const { method, example } = operation
    const body = method === 'GET' ? undefined : example.body
    const asToken = await ask(method, pathOf(operation), token, body)
    const asSession = await ask(method, pathOf(operation), session, body)
    if (asToken.status === 401 || asToken.status === 403 || /account_required/.test(asToken.code)) {
      refused.push(operation.id)
      t.equal(asSession.code, asToken.code, operation.id)
    }
  }
  t.ok(refused.length > 20, `${refused.length} are refused`)
  t.ok(refused.includes('keys.self') && refused.includes('accounts.session'))
})

await t.test('signing out ends it at once, and another token ends all', async (t) => {
  const [first, second] = [await open(), await open()]
  const ended = await ask('DELETE', '/v1/operator/session', first)
  t.equal(ended.status, 200)
  t.match(ended.cookies[0], /^keyhook-operator=; /)
  t.equal((await ask('GET', '/v1/accounts', first)).code, '401 session_expired')
  t.equal((await ask('GET', '/v1/accounts', second)).code, '200')
  const token = { authorization: `Bearer ${TOKEN}` }
  t.equal((await ask('DELETE', '/v1/operator/session', token)).code, '403 session_required')
  await daemon.end('SIGTERM')
  daemon = await startDaemonProcess({ ...settings, KEYHOOK_OPERATOR_TOKEN: TOKEN })
  t.equal((await ask('GET', '/v1/accounts', second)).code, '200', 'a restart ends none')
  t.equal((await ask('GET', '/v1/accounts', first)).code, '401 session_expired')
  await daemon.end('SIGTERM')
  daemon = await startDaemonProcess({ ...settings, KEYHOOK_OPERATOR_TOKEN: `${TOKEN}-2` })
  t.equal((await ask('GET', '/v1/accounts', second)).code, '401 session_expired')
  await daemon.end('SIGTERM')
  daemon = await startDaemonProcess(settings)
  t.equal((await ask('GET', '/v1/accounts', second)).code, '401 session_expired')
  const none = await ask('POST', '/v1/operator/session', {}, { token: TOKEN })
  t.equal(none.code, '401 invalid_operator_token', 'without a token nobody signs in')
  await daemon.end('SIGTERM')
  daemon = await startDaemonProcess({ ...settings, KEYHOOK_OPERATOR_TOKEN: TOKEN })
})

await t.test('status and settings: from one source, and never a secret', async (t) => {
  const session = await open()
  const { body: status } = await ask('GET', '/v1/operator/status', session)
  t.match(status, { sending: 'active', unfinished_deliveries: 0, last_errors: [] })
  t.match(status, { database: { kind: 'sqlite' }, disk: {} })
  const { body } = await ask('GET', '/v1/operator/settings', session)
  const rows = body['data'] as readonly { name: string; source: string; value: string | null }[]
  const of = (name: string): object | undefined => rows.find((row) => row.name === name)
  t.match(of('KEYHOOK_OPERATOR_TOKEN'), { source: 'variable', value: null })
  t.match(of('KEYHOOK_DATA_DIR'), { source: 'variable', value: data })
  t.match(of('KEYHOOK_WEBHOOK_DISABLE_FAILURES'), { source: 'dev', value: '3' })
  t.match(of('KEYHOOK_BILLING'), { source: 'default' })
  for (const secret of [TOKEN, PASSWORD]) t.notMatch(JSON.stringify(body), secret)
})

await t.test('the service has an audit log that the operator alone reads', async (t) => {
  const session = await open()
  const path = '/v1/operator/audit-log?action=operator.signed_in&limit=1'
  const { code, body } = await ask('GET', path, session)
  t.equal(code, '200')
  t.match(body, {
    data: [{ actor: { type: 'operator' }, target: { type: 'operator_session' } }],
    has_more: true,
  })
  const next = await ask('GET', `${path}&cursor=${String(body['next_cursor'])}`, session)
  t.equal(next.code, '200')
  t.notSame(next.body['data'], body['data'])
  t.equal((await ask('GET', path)).code, '401 missing_credentials')
})

await t.test('a value of a file is one, and no secret is in what is listed', (t) => {
  const folder = t.testdir({ token: `${TOKEN}\n`, port: '8421\n' })
  const { inForce } = readConfig({
    KEYHOOK_OPERATOR_TOKEN_FILE: `${folder}/token`,
    KEYHOOK_PORT_FILE: `${folder}/port`,
    KEYHOOK_HOST: '',
  })
  const of = (name: string): object | undefined => inForce.find((one) => one.name === name)
  t.match(of('KEYHOOK_OPERATOR_TOKEN'), { source: 'file', value: null, secret: true })
  t.match(of('KEYHOOK_PORT'), { source: 'file', value: '8421', secret: false })
  t.match(of('KEYHOOK_HOST'), { source: 'default', value: '127.0.0.1' })
  t.end()
})

await t.test(
  'a session ends after an hour, and none lasts longer because a clock was wrong',
  (t) => {
    const random = (length: number): Uint8Array => new Uint8Array(length).fill(7)
    const sessions = createOperatorSessions(TOKEN, random)
    const { value, session } = sessions.open(HOUR)
    t.strictSame(sessions.read(value, HOUR), session)
    t.strictSame(sessions.read(value, 2 * HOUR - 1), session)
    t.equal(sessions.read(value, 2 * HOUR), undefined)
    t.equal(sessions.read(value, HOUR - 1), undefined)
    t.equal(createOperatorSessions(`${TOKEN}x`, random).read(value, HOUR), undefined)
    t.notMatch(value, session.id)
    t.end()
  },
)
