import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Keyhook } from '../../daemon/embed/index.ts'
import { createKeyhook } from '../../daemon/embed/index.ts'

const keyhook: Keyhook = await createKeyhook({
  dataDir: t.testdir(),
  scopes: { orders: ['read', 'write'] },
  logLevel: 'silent',
})
t.teardown(() => keyhook.stop())
const account = keyhook.as('acct_1')
const { key: token } = await account.keys.create({ name: 'reader', scopes: ['orders:*'] })

await t.test('a misspelt scope in a requirement is a mistake of the program', async (t) => {
  for (const [requirement, message] of [
    [{ scope: 'ordrs:read' }, /"ordrs:read" is not one .* Did you mean "orders:read"\? .*scopes$/],
    [{ scopes: ['orders:read', 'orders:wirte'] }, /"orders:wirte" .*"orders:write"\?/],
    [{ scope: 'orders:*' }, /"orders:\*" is not one family:action/],
    [
      { scope: 'zebra:stripes' },
      /"zebra:stripes" is not one family:action of this service\. create/,
    ],
  ] as const) {
    for (const value of [token, undefined, 'no key']) {
      const error = { name: 'TypeError', message }
      await t.rejects(keyhook.keys.verify(value, requirement), error)
    }
  }
  const { authority } = await keyhook.keys.verify(token, {
    scopes: ['orders:read', 'orders:write'],
  })
  t.strictSame([...authority.scopes], ['orders:*'])
})

await t.test('what one call requires changes nothing for the next', async (t) => {
  const { key } = await account.keys.create({
    name: 'pinned',
    scopes: ['orders:read'],
    apps: ['app00001'],
  })
  const requireApp = (app: string) => keyhook.keys.verify(key, { scope: 'orders:read', app })
  await t.rejects(requireApp('app00002'), { code: 'app_not_found' })
  await t.resolves(keyhook.keys.verify(key, { scope: 'orders:read' }))
  await t.rejects(requireApp('app00002'), { code: 'app_not_found' })
  await t.resolves(requireApp('app00001'))
  for (const attempt of ['first', 'second']) {
    const refusal = await keyhook.keys
      .verify(key, { scope: 'orders:write' })
      .catch((cause) => cause)
    t.match(refusal, { code: 'insufficient_scope' }, attempt)
    refusal.details.required_scopes.length = 0
  }
})

await t.test(
  'a database that Keyhook cannot use is refused by its kind, without the password',
  async (t) => {
    const kinds = {
      'mysql://user:hunter2@127.0.0.1/shop': /is an address of mysql:.*SQLite or PostgreSQL/,
      'mongodb+srv://user:hunter2@127.0.0.1/shop': /is an address of mongodb\+srv:/,
      ':memory:': /must be a file/,
      'sqlite::memory:': /must be a file/,
      'file:dev.db': /must be the path of a SQLite file, sqlite:<path of a file>,.* or postgres:/,
      'sqlite:file:dev.db?mode=ro': /without file: and \?options/,
    }
    for (const [database, message] of Object.entries(kinds)) {
      const refusal = await createKeyhook({ database, logLevel: 'silent' }).catch(
        (cause: unknown) => cause,
      )
      t.match(refusal, { name: 'TypeError', message })
      t.notMatch(String((refusal as Error).message), 'hunter2')
    }
    const file = `${t.testdir()}/shop.sqlite`
    const masterKey = `k1:${Buffer.alloc(32, 1).toString('base64')}`
    const opened = await createKeyhook({
      database: `sqlite:${file}`,
      masterKey,
      logLevel: 'silent',
    })
    await opened.stop()
    t.ok(existsSync(file))
  },
)

await t.test('the folder is named in a warning where nobody gave one', async (t) => {
  const folder = t.testdir()
  const before = process.cwd()
  process.chdir(folder)
  t.teardown(() => {
    process.chdir(before)
  })
  const warned = once(process, 'warning')
  const opened = await createKeyhook({ logLevel: 'silent' })
  await opened.stop()
  const [warning] = (await warned) as [Error]
  t.match(warning.message, /neither database nor dataDir is given: .*keyhook-data$/)
})

await t.test('a setting that has no effect when embedded is refused with the reason', async (t) => {
  const given = createKeyhook as (options: object) => Promise<Keyhook>
  const folder = join(t.testdir(), 'absent')
  const refused = {
    port: [3000, 'your own server listens'],
    ownerEmail: ['me@example.com', 'its users are those of your product'],
    appsDomain: ['apps.example.net', 'options.families names no family that has apps'],
    llmModel: ['m', 'options.families names no family that has apps'],
  } as const
  for (const [name, [value, reason]] of Object.entries(refused)) {
    const message = `createKeyhook: options.${name} has no effect when embedded: ${reason}. Leave it out`
    await t.rejects(given({ dataDir: folder, [name]: value }), { name: 'TypeError', message })
  }
  const unknown = given({ dataDir: folder, dataDirectory: 'a' })
  await t.rejects(unknown, { message: /allowed: (?!.*ownerEmail).*dataDir/ })
  t.notOk(existsSync(folder))
})

await t.test('an undeclared type is refused with how to declare it in code', async (t) => {
  const publish = (type: string) =>
    keyhook.webhooks.publish({ account_id: 'acct_1', type, data: {} })
  await account.events.declareType({ type: 'order.paid' })
  await publish('order.paid')
  await t.rejects(publish('order.piad'), {
    code: 'undeclared_event_type',
    message:
      /^The type "order.piad" is not declared\. Did you mean "order.paid"\? .*eventTypes of createKeyhook\(\).*keyhook\.as\(account\)\.events\.declareType\(\)\.$/,
  })
  const inTransaction = keyhook.transaction((transaction) =>
    keyhook.webhooks.publish(
      { account_id: 'acct_1', type: 'order.sent', data: {} },
      { transaction },
    ),
  )
  await t.rejects(inTransaction, { message: /createKeyhook\(\)/ })
})

await t.test('a refused call of the API names the field in its message', async (t) => {
  const create = account.keys.create as (given: object) => Promise<unknown>
  await t.rejects(create({ name: 'a', scope: ['orders:read'] }), {
    code: 'invalid_request',
    message: /body\.scope: /,
  })
})

await t.test('a whole Authorization header is refused with what to pass instead', async (t) => {
  for (const value of [`Bearer ${token}`, `bearer ${token}`, 'Bearer nothing']) {
    await t.rejects(keyhook.keys.verify(value, { scope: null }), {
      status: 401,
      code: 'invalid_key',
      message: /pass the token alone/,
    })
  }
})

await t.test('routes that are mounted without a baseUrl are warned of once', async (t) => {
  const root = t.testdir()
  const warnings: string[] = []
  const hear = ({ message }: Error): number => warnings.push(message)
  process.on('warning', hear)
  t.teardown(() => process.off('warning', hear))
  const open = async (options: object, folder: string): Promise<Keyhook> => {
    const opened = await createKeyhook({
      dataDir: join(root, folder),
      logLevel: 'silent',
      ...options,
    })
    t.teardown(() => opened.stop())
    return opened
  }
  const given = await open({ baseUrl: 'http://127.0.0.1:3000/developer' }, 'given')
  given.callback({ prefix: '/developer' })
  const missing = await open({}, 'missing')
  missing.callback()
  missing.koa()
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(warnings.length, 1)
  t.match(warnings[0], /baseUrl is not given: links begin with http:\/\/127\.0\.0\.1:8420/)
})

await t.test('a brand or a master key that cannot be used is named once', async (t) => {
  const refused = (options: object): Promise<unknown> =>
    createKeyhook({ dataDir: t.testdir(), logLevel: 'silent', ...options }).catch(
      (cause: unknown) => cause,
    )
  t.match(await refused({ brand: 'Shop' }), {
    name: 'ConfigError',
    message: /^brand must be a lower-case letter and up to 30/,
  })
  t.match(await refused({ masterKey: 'k1:short' }), {
    name: 'ConfigError',
    message: 'masterKey cannot be used: key 1 must be id:base64 of 32 bytes',
  })
})

await t.test('a Keyhook that was stopped says so, and is not asked again', async (t) => {
  const stopped = await createKeyhook({
    dataDir: t.testdir(),
    eventTypes: ['order.paid'],
    logLevel: 'silent',
  })
  const known = stopped.as('acct_1')
  const { key } = await known.keys.create({ name: 'CI', scopes: ['keys:read'] })
  await stopped.keys.verify(key, { scope: null })
  await stopped.stop()
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    'a verification, though the key is in memory': () => stopped.keys.verify(key, { scope: null }),
    'an event': () =>
      stopped.webhooks.publish({ account_id: 'acct_1', type: 'order.paid', data: {} }),
    'a limit': () => stopped.accounts.update('acct_1', { key_limit: 5 }),
    'a transaction': () => stopped.transaction(async () => undefined),
    'a list, which may be asked for again': () => known.keys.list(),
  }
  // A client that tries again waits in between.
  t.intercept(globalThis, 'setTimeout', {
    get: () => () => {
      throw new Error('waits')
    },
  })
  for (const [title, call] of Object.entries(calls)) {
    const refusal = await call().catch((cause: unknown) => cause)
    t.match(refusal, { code: 'unavailable', status: 503 }, title)
    t.match(refusal, { message: 'This Keyhook was stopped.' }, title)
  }
})

await t.test('the portal of a customer: a link, its session, and the end of it', async (t) => {
  const portal = await createKeyhook({
    dataDir: t.testdir(),
    scopes: { orders: ['read', 'write'] },
    baseUrl: 'https://shop.example.com/developer',
    portalFrameAncestors: ['https://shop.example.com'],
    logLevel: 'silent',
  })
  t.teardown(() => portal.stop())
  const link = await portal.portal.link('acct_1', {
    scopes: ['keys:*', 'orders:read'],
    expires_in: 60,
  })
  t.strictSame(link.scopes, ['keys:*', 'orders:read'])
  t.ok(link.expires_at > Date.now() + 50_000 && link.expires_at <= Date.now() + 60_000)
  const [address, token = ''] = link.url.split('#token=')
  t.equal(address, 'https://shop.example.com/developer/portal')
  const api = portal.web({ prefix: '/developer' })
  const at = (path: string) => `https://shop.example.com/developer${path}`
  const page = await api(new Request(String(address)))
  t.equal(page.status, 200)
  t.match(page.headers.get('content-security-policy'), 'frame-ancestors https://shop.example.com;')
  t.match(await page.text(), '<base href="/developer/portal/"')
  const open = () =>
    api(
      new Request(at('/v1/portal/session'), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
        body: JSON.stringify({ token }),
      }),
    )
  const opened = await open()
  t.equal(opened.status, 201)
  const session = (await opened.json()) as { token: string; delegable: string[] }
  t.strictSame(session.delegable.sort(), ['keys:read', 'keys:write', 'orders:read'])
  t.equal((await open()).status, 401, 'a link opens once')
  const headers = { authorization: `Bearer ${session.token}`, 'content-type': 'application/json' }
  const mint = (scopes: readonly string[]) =>
    api(
      new Request(at('/v1/keys'), {
        method: 'POST',
        headers,
        body: JSON.stringify({ name: 'a customer', scopes }),
      }),
    )
  const minted = await mint(['orders:read'])
  t.equal(minted.status, 201)
  const { key } = (await minted.json()) as { key: string }
  t.equal((await mint(['orders:write'])).status, 403)
  t.equal(await portal.portal.end('acct_1'), 1)
  t.equal((await mint(['orders:read'])).status, 401)
  const { key: record } = await portal.keys.verify(key, { scope: 'orders:read' })
  t.match(record, { account_id: 'acct_1', parent_id: null, created_by: { type: 'portal' } })
  await t.rejects(portal.portal.link('acct_1', { scopes: ['*:*' as never] }), {
    code: 'scope_not_of_portal',
  })
  await t.rejects(portal.portal.link('not an id'), TypeError)
})
