import t from 'tap'
import type { Test } from 'tap'
import { FAMILIES } from '../../daemon/families/index.ts'
import type { Operation } from '../../daemon/operations/operation.ts'
import { isToken } from '../../lib/key/token.ts'
import { HOUR } from '../../lib/time.ts'
import type { DaemonProcess, Env } from '../support/daemon.ts'
import { startDaemonProcess } from '../support/daemon.ts'
import { startPostgres } from '../support/postgres.ts'
import type { AnyBody } from '../support/world.ts'

const OPERATOR = 'an-operator-token-of-thirty-two-characters'
const MASTER = `a:${Buffer.alloc(32, 7).toString('base64')}`
const RACERS = 20

interface Answer {
  readonly status: number
  /** Status, and the code of a refusal. */
  readonly code: string
  readonly body: AnyBody
  readonly cookies: readonly string[]
}

interface Portal {
  readonly token: string
  readonly id: string
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const operator = bearer(OPERATOR)

/** Whoever asks the daemons: each request goes to the next of them. */
function asking(daemons: readonly DaemonProcess[]) {
  let turn = 0
  async function ask(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>> = {},
    given?: unknown,
  ): Promise<Answer> {
    const { url = '' } = daemons[turn++ % daemons.length] ?? {}
    const response = await fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(given === undefined ? {} : { body: JSON.stringify(given) }),
    })
    const text = await response.text()
    const body = (/^\s*\{/.test(text) ? JSON.parse(text) : {}) as AnyBody
    const error = body['error'] as { readonly code?: string } | undefined
    const code = [response.status, ...(error?.code === undefined ? [] : [error.code])].join(' ')
    return { status: response.status, code, body, cookies: response.headers.getSetCookie() }
  }
  async function tokenOf(account: string, given: object = {}): Promise<string> {
    const { status, body } = await ask(
      'POST',
      `/v1/accounts/${account}/portal-links`,
      operator,
      given,
    )
    if (status !== 201) throw new Error(JSON.stringify(body))
    return String(body['url']).split('#token=')[1] ?? ''
  }
  return {
    ask,
    tokenOf,
    async addAccount(): Promise<string> {
      return String((await ask('POST', '/v1/accounts', operator, { name: 'Acme' })).body['id'])
    },
    async open(account: string, given?: object): Promise<Portal> {
      const token = await tokenOf(account, given)
      const { body } = await ask('POST', '/v1/portal/session', {}, { token })
      return { token: String(body['token']), id: String(body['id']) }
    },
    /** Entries of the audit log, newest first. */
    async audited(account: string): Promise<readonly string[]> {
      const owner = { ...operator, 'keyhook-account': account }
      const { body } = await ask('GET', '/v1/audit-log', owner)
      const rows = body['data'] as readonly { action: string; actor: { type: string } }[]
      return rows.map(({ action, actor }) => `${action} by ${actor.type}`)
    },
  }
}

async function start(t: Test, env: Env, many = 1): Promise<readonly DaemonProcess[]> {
  const daemons: DaemonProcess[] = []
  for (let at = 0; at < many; at++) {
    const daemon = await startDaemonProcess({
      KEYHOOK_OPERATOR_TOKEN: OPERATOR,
      KEYHOOK_LOG_LEVEL: 'error',
      KEYHOOK_DATA_DIR: t.testdir() + (at === 0 ? '' : String(at)),
      ...env,
    })
    t.teardown(() => daemon.end('SIGTERM'))
    daemons.push(daemon)
  }
  return daemons
}

const { url: database, server } = await postgres()
async function postgres() {
  const server = await startPostgres()
  return { server, url: await server.createDatabase() }
}
t.teardown(() => server.stop())

const PLACES: readonly (readonly [name: string, env: Env, daemons: number])[] = [
  ['SQLite', {}, 1],
  ['two daemons on PostgreSQL', { KEYHOOK_DATABASE_URL: database, KEYHOOK_MASTER_KEY: MASTER }, 2],
]

for (const [name, env, many] of PLACES) {
  await t.test(name, async (t) => {
    const { ask, tokenOf, addAccount, open, audited } = asking(await start(t, env, many))
    const account = await addAccount()

    await t.test(
      'a link is an address with a token in its fragment, for the operator',
      async (t) => {
        const path = `/v1/accounts/${account}/portal-links`
        const made = await ask('POST', path, operator, {})
        t.equal(made.status, 201)
        t.match(made.body['url'], /^http:\/\/127\.0\.0\.1:\d+\/portal#token=service_pl_\w{49}$/)
        const left = Date.parse(String(made.body['expires_at'])) - Date.now()
        t.ok(left > 290_000 && left <= 300_000, 'five minutes')
        t.strictSame(made.body['scopes'], [
          'keys:read',
          'keys:write',
          'webhooks:read',
          'webhooks:write',
        ])
        t.equal((await ask('POST', path, {}, {})).code, '401 missing_credentials')
        const unknown = await ask('POST', '/v1/accounts/none/portal-links', operator, {})
        t.equal(unknown.code, '404 account_not_found')
        for (const expires_in of [0, 3601, 1.5]) {
          t.equal((await ask('POST', path, operator, { expires_in })).code, '400 invalid_request')
        }
      },
    )

    await t.test('a replay of its creation shows no address', async (t) => {
      const path = `/v1/accounts/${account}/portal-links`
      const headers = { ...operator, 'idempotency-key': 'once' }
      const first = await ask('POST', path, headers, {})
      const again = await ask('POST', path, headers, {})
      t.type(first.body['url'], 'string')
      t.strictSame(again.body, { ...first.body, url: null })
    })

    await t.test('it takes no scope that reaches further than keys and webhooks', async (t) => {
      const path = `/v1/accounts/${account}/portal-links`
      for (const scope of ['*:*', '*:read', 'apps:read', 'events:write', 'events:*', 'billing:*']) {
        const refused = await ask('POST', path, operator, { scopes: ['keys:read', scope] })
        t.equal(refused.code, '400 scope_not_of_portal', scope)
        t.match(refused.body, { error: { errors: [{ location: 'body.scopes[1]' }] } })
      }
      t.equal((await ask('POST', path, operator, { scopes: [] })).code, '400 invalid_request')
      for (const scope of ['keys:write', 'webhooks:write', 'events:read']) {
        const refused = await ask('POST', path, operator, { scopes: [scope] })
        t.equal(refused.code, '400 scope_not_of_portal', `${scope} alone shows no page`)
      }
      const unknown = await ask('POST', path, operator, { scopes: ['keys:admin'] })
      t.equal(unknown.code, '400 invalid_scope')
      const taken = await ask('POST', path, operator, { scopes: ['webhooks:*', 'events:read'] })
      t.strictSame(taken.body['scopes'], ['events:read', 'webhooks:*'])
    })

    await t.test('of twenty who follow it at once one has a session', async (t) => {
      const token = await tokenOf(account)
      const answers = await Promise.all(
        Array.from({ length: RACERS }, () => ask('POST', '/v1/portal/session', {}, { token })),
      )
      const codes = answers.map(({ code }) => code).sort()
      t.strictSame(codes, [
        '201',
        ...Array.from({ length: RACERS - 1 }, () => '401 invalid_portal_link'),
      ])
      const [won] = answers.filter(({ status }) => status === 201)
      t.strictSame(won?.cookies, [], 'no cookie')
      const session = String(won?.body['token'])
      t.ok(isToken('service_ps_', session))
      const shown = await ask('GET', '/v1/portal/session', bearer(session))
      const { token: _, ...opened } = won?.body ?? {}
      t.strictSame(shown.body, opened)
      const left = Date.parse(String(shown.body['expires_at'])) - Date.now()
      t.ok(left > HOUR - 60_000 && left <= HOUR, 'an hour')
    })

    await t.test('link, session and key are never taken for each other', async (t) => {
      const link = await tokenOf(account)
      const { token: session } = await open(account)
      const made = await ask('POST', '/v1/keys', bearer(session), {
        name: 'a key',
        scopes: ['keys:read'],
      })
      const key = String(made.body['key'])
      t.equal((await ask('GET', '/v1/keys', bearer(link))).code, '401 invalid_key')
      const asLink = (token: string) => ask('POST', '/v1/portal/session', {}, { token })
      t.equal((await asLink(session)).code, '401 invalid_portal_link')
      t.equal((await asLink(key)).code, '401 invalid_portal_link')
      t.equal(
        (await ask('GET', '/v1/portal/session', bearer(key))).code,
        '403 portal_session_required',
      )
      for (const forged of [
        key.replace('_dk_', '_ps_'),
        link.replace('_pl_', '_ps_'),
        `${session.slice(0, -1)}${session.endsWith('x') ? 'y' : 'x'}`,
      ]) {
        t.equal((await ask('GET', '/v1/keys', bearer(forged))).code, '401 session_expired')
      }
      const renamed = session.replace('_ps_', '_dk_')
      t.equal((await ask('GET', '/v1/keys', bearer(renamed))).code, '401 invalid_key')
      const verified = await ask('POST', '/v1/keys/verify', operator, { key: session })
      t.notMatch(verified.body, { valid: true })
      t.equal((await asLink(link)).status, 201, 'the link was not spent by any of this')
    })

    await t.test('its keys hold no more than it does, and outlive it', async (t) => {
      const { token, id } = await open(account, { scopes: ['keys:*', 'webhooks:read'] })
      const mint = (scopes: readonly string[]) =>
        ask('POST', '/v1/keys', bearer(token), { name: 'minted', scopes })
      for (const scope of ['*:*', 'webhooks:write', 'webhooks:*', 'apps:read', 'events:read']) {
        t.equal((await mint([scope])).code, '403 scope_not_delegable', scope)
      }
      const made = await mint(['keys:read', 'webhooks:read'])
      t.match(made.body, { parent_id: null, expires_at: null, created_by: { type: 'portal', id } })
      const owner = { ...operator, 'keyhook-account': account }
      const wide = await ask('POST', '/v1/keys', owner, { name: 'wide', scopes: ['apps:read'] })
      for (const [method, path] of [
        ['POST', `/v1/keys/${String(wide.body['id'])}/rotate`],
        ['DELETE', `/v1/keys/${String(wide.body['id'])}`],
        ['PATCH', `/v1/keys/${String(wide.body['id'])}`],
      ] as const) {
        const body = method === 'PATCH' ? { name: 'taken' } : method === 'POST' ? {} : undefined
        t.equal((await ask(method, path, bearer(token), body)).code, '403 key_not_managed', path)
      }
      t.equal((await ask('DELETE', '/v1/portal/session', bearer(token))).status, 200)
      t.equal((await ask('GET', '/v1/keys', bearer(token))).code, '401 session_expired')
      t.equal((await ask('GET', '/v1/keys', bearer(String(made.body['key'])))).status, 200)
      t.match(await audited(account), ['portal.signed_out by portal', 'key.created by operator'])
    })

    await t.test('it subscribes to declared event types with events:read alone', async (t) => {
      const owner = { ...operator, 'keyhook-account': account }
      await ask('PUT', '/v1/event-types/order.paid', owner, { description: 'An order was paid' })
      const hook = { url: 'https://example.com/hook', events: ['order.paid'] }
      const plain = await open(account)
      const refused = await ask('POST', '/v1/webhooks', bearer(plain.token), hook)
      t.equal(refused.code, '403 insufficient_scope')
      t.equal(
        (await ask('GET', '/v1/event-types', bearer(plain.token))).code,
        '403 insufficient_scope',
      )
      const scopes = ['webhooks:write', 'webhooks:read', 'events:read']
      const reading = await open(account, { scopes })
      t.equal((await ask('GET', '/v1/event-types', bearer(reading.token))).status, 200)
      const made = await ask('POST', '/v1/webhooks', bearer(reading.token), hook)
      t.equal(made.status, 201)
      t.match(made.body, { created_by: { type: 'portal', id: reading.id } })
      // A session that may not read the events must not send them elsewhere.
      const moved = await ask(
        'PATCH',
        `/v1/webhooks/${String(made.body['id'])}`,
        bearer(plain.token),
        { url: 'https://example.org/elsewhere' },
      )
      t.equal(moved.code, '403 insufficient_scope')
    })

    await t.test('it sees one account alone', async (t) => {
      const other = await addAccount()
      const owner = { ...operator, 'keyhook-account': other }
      const foreign = await ask('POST', '/v1/keys', owner, {
        name: 'theirs',
        scopes: ['keys:read'],
      })
      const { token } = await open(account)
      const path = `/v1/keys/${String(foreign.body['id'])}`
      t.equal((await ask('GET', path, bearer(token))).code, '404 key_not_found')
      const named = { ...bearer(token), 'keyhook-account': other }
      t.equal((await ask('GET', path, named)).code, '404 key_not_found')
      t.equal((await ask('DELETE', path, bearer(token))).code, '404 key_not_found')
    })

    await t.test('the operator ends all sessions and links of an account at once', async (t) => {
      const own = await addAccount()
      const other = await open(account)
      const [first, second] = [await open(own), await open(own)]
      const link = await tokenOf(own)
      const path = `/v1/accounts/${own}/portal-sessions`
      t.equal((await ask('DELETE', path, bearer(first.token))).code, '403 outside_portal')
      t.strictSame((await ask('DELETE', path, operator)).body, { account_id: own, ended: 3 })
      for (const { token } of [first, second]) {
        t.equal((await ask('GET', '/v1/keys', bearer(token))).code, '401 session_expired')
      }
      const followed = await ask('POST', '/v1/portal/session', {}, { token: link })
      t.equal(followed.code, '401 invalid_portal_link')
      t.equal((await ask('GET', '/v1/keys', bearer(other.token))).status, 200)
    })

    await t.test('a suspended account has no portal', async (t) => {
      const own = await addAccount()
      const { token } = await open(own)
      const link = await tokenOf(own)
      await ask('POST', `/v1/accounts/${own}/suspend`, operator)
      t.equal((await ask('GET', '/v1/keys', bearer(token))).code, '401 session_expired')
      const followed = await ask('POST', '/v1/portal/session', {}, { token: link })
      t.equal(followed.code, '401 invalid_portal_link')
      const made = await ask('POST', `/v1/accounts/${own}/portal-links`, operator, {})
      t.equal(made.code, '403 account_suspended')
      await ask('POST', `/v1/accounts/${own}/resume`, operator)
      // Whoever had them is not let in again.
      t.equal((await ask('GET', '/v1/keys', bearer(token))).code, '401 session_expired')
      t.equal((await ask('POST', '/v1/portal/session', {}, { token: link })).code, followed.code)
      t.equal((await ask('GET', '/v1/keys', bearer((await open(own)).token))).status, 200)
    })

    await t.test('an expired link opens nothing', async (t) => {
      const token = await tokenOf(account, { expires_in: 1 })
      await new Promise((resolve) => setTimeout(resolve, 1100))
      const followed = await ask('POST', '/v1/portal/session', {}, { token })
      t.equal(followed.code, '401 invalid_portal_link')
    })
  })
}

/** Every operation that a session may call: of keys and webhooks, and what choosing and reading events needs. */
const ALLOWED: readonly string[] = [
  'events.get',
  'events.list_types',
  'keys.create',
  'keys.end_previous',
  'keys.get',
  'keys.list',
  'keys.revoke',
  'keys.rotate',
  'keys.update',
  'portal.session',
  'portal.sign_out',
  'webhooks.create',
  'webhooks.delete',
  'webhooks.get',
  'webhooks.get_delivery',
  'webhooks.list',
  'webhooks.list_deliveries',
  'webhooks.replay',
  'webhooks.retry_delivery',
  'webhooks.retry_failed',
  'webhooks.rotate_secret',
  'webhooks.test',
  'webhooks.update',
]

function pathOf({ path, example }: Operation): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => example.params?.[name] ?? 'none')
}

await t.test('of all operations a session reaches those of the portal, and no other', async (t) => {
  const { ask, addAccount, open } = asking(await start(t, {}))
  const account = await addAccount()
  const widest = { scopes: ['keys:*', 'webhooks:*', 'events:read'] }
  const { token } = await open(account, widest)
  const { token: narrow } = await open(account, { scopes: ['keys:read'] })
  const named = { ...bearer(token), 'keyhook-account': account, 'keyhook-operator': 'session' }
  const reached: string[] = []
  for (const operation of FAMILIES.flatMap(({ operations }) => operations)) {
    const { id, method, access, example } = operation
    if (access === 'public' || id === 'portal.sign_out') continue
    const body = method === 'GET' ? undefined : (example.body ?? {})
    const { code } = await ask(method, pathOf(operation), bearer(token), body)
    if (code !== '403 outside_portal') {
      reached.push(id)
      // The example's key would hold more than the session does.
      const expected = id === 'keys.create' ? /^403 scope_not_delegable$/ : /^(2|400|404|409)/
      t.match(code, expected, `${id}: ${code}`)
      if (typeof access === 'object' && access.scope !== 'keys:read') {
        const { code } = await ask(method, pathOf(operation), bearer(narrow), body)
        t.equal(code, '403 insufficient_scope', `${id} without its scope`)
      }
      continue
    }
    const headers = await ask(method, pathOf(operation), named, body)
    t.equal(headers.code, '403 outside_portal', `${id} with the headers of others`)
  }
  t.strictSame(
    [...reached, 'portal.sign_out'].sort(),
    ALLOWED,
    'a new operation is outside unless it says otherwise, and this list too',
  )
  const call = { jsonrpc: '2.0', id: 1 }
  const hello = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'a', version: '1' },
  }
  for (const [path, body] of [
    ['/mcp', { ...call, method: 'initialize', params: hello }],
    ['/a2a', { ...call, method: 'ListTasks', params: {} }],
    ['/metrics', undefined],
  ] as const) {
    const headers = { ...bearer(token), accept: 'application/json, text/event-stream' }
    const answer = await ask(body === undefined ? 'GET' : 'POST', path, headers, body)
    t.notOk('result' in answer.body, `${path}: ${JSON.stringify(answer.body)}`)
    t.match(JSON.stringify(answer.body), /key_required|operator_required/, path)
  }
})
