import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { Keyhook } from '../../daemon/embed/index.ts'
import { createKeyhook } from '../../daemon/embed/index.ts'
import { allows, mintSecret, mintToken, verifyWebhook } from '../../lib/index.ts'
import { ARGUMENTS } from './rows/arguments.ts'
import type { Checks, Saw } from './run.ts'
import { runSection } from './run.ts'

const dataDir = t.testdir()
const keyhook = await createKeyhook({
  dataDir,
  scopes: { orders: ['read', 'write'] },
  eventTypes: ['order.paid'],
  logLevel: 'silent',
})
t.teardown(() => keyhook.stop())
const { key } = await keyhook
  .as('acct_1')
  .keys.create({ name: 'reader', scopes: ['orders:read'], apps: ['app_1'] })
const token = key ?? ''

/** Functions as plain JavaScript calls them. */
type Loose = (...args: readonly unknown[]) => unknown

const verify = keyhook.keys.verify as Loose
const publish = keyhook.webhooks.publish as Loose
const event = { account_id: 'acct_1', type: 'order.paid', data: {} }

/** Notes how a call ends; one that is not refused fails the row. */
async function refused(saw: Saw, call: () => unknown): Promise<Error> {
  try {
    await call()
  } catch (cause) {
    const error = cause as Error & { readonly status?: number; readonly code?: string }
    saw(error.code === undefined ? error.name : `${error.status} ${error.code}`)
    return error
  }
  throw new Error('it was not refused')
}

const eventsOf = async (): Promise<number> =>
  (await keyhook.as('acct_1').events.list({ limit: 100 })).data.length

const CHECKS: Checks = {
  async L01(t, saw) {
    const several = { scopes: ['orders:read', 'orders:write'] }
    t.match(await refused(saw, () => verify(token, several)), {
      status: 403,
      details: { missing_scopes: ['orders:write'] },
    })
    t.match(await refused(saw, () => verify(token, { scopes: ['orders:write'] })), { status: 403 })
    t.match(await verify(token, { scopes: ['orders:read'] }), { key: { name: 'reader' } })
  },
  async L02(t, saw) {
    t.type(await refused(saw, () => verify(token, 'orders:write')), TypeError)
    t.type(await refused(saw, () => verify(token, { scope: 'orders:read' }, {})), TypeError)
  },
  async L03(t, saw) {
    const requirements = [
      { scops: ['orders:write'] },
      { scope: 'orders:read', app_id: 'app_2' },
      Object.create({ scope: 'orders:read' }) as object,
      { scope: 'orders:read', [Symbol('app')]: 'app_2' },
    ]
    for (const one of requirements) {
      t.type(await refused(saw, () => verify(token, one)), TypeError)
    }
    t.match(await refused(saw, () => verify(token, { scops: ['orders:write'] })), {
      message: 'keys.verify: unknown name scops in requirement; allowed: scope, scopes, app',
    })
  },
  async L04(t, saw) {
    const requirements = [
      undefined,
      null,
      {},
      { scope: undefined },
      { scopes: [] },
      { scope: 'orders:read', app: undefined },
      { scope: null, scopes: ['orders:read'] },
    ]
    for (const one of requirements) {
      t.type(await refused(saw, () => verify(token, one)), TypeError)
    }
    t.match(await verify(token, { scope: null }), { key: { name: 'reader' } })
  },
  async L05(t, saw) {
    for (const value of [undefined, null, '', 5, {}, [token]]) {
      t.match(await refused(saw, () => verify(value, { scope: null })), { status: 401 })
    }
    t.match(await refused(saw, () => verify(undefined)), { code: 'missing_credentials' })
  },
  async L06(t, saw) {
    t.match(await refused(saw, () => verify(token, { app: 'app_2' })), { status: 404 })
    t.match(await verify(token, { app: 'app_1' }), { key: { name: 'reader' } })
  },
  async L07(t, saw) {
    const before = await eventsOf()
    const options = [{ transction: {} }, { transaction: undefined }, { transaction: null }, 'tx']
    for (const one of options) t.type(await refused(saw, () => publish(event, one)), TypeError)
    for (const data of [[], null, 'text', undefined]) {
      t.type(await refused(saw, () => publish({ ...event, data })), TypeError)
    }
    t.type(await refused(saw, () => publish({ ...event, appid: 'app_1' })), TypeError)
    t.equal(await eventsOf(), before)
  },
  async L08(t, saw) {
    const signedIn = { account_id: 'acct_8', user_id: 'user_1', authenticatedAt: 1 }
    const { status } = await createAs(keyhook, signedIn)
    saw(String(status))
    t.same((await keyhook.as('acct_8').keys.list()).data, [])
    const stale = { account_id: 'acct_8', user_id: 'user_1', authenticated_at: 1 }
    t.equal((await createAs(keyhook, stale)).status, 403, 'a sign-in of long ago')
  },
  async L09(t, saw) {
    const loose = allows as Loose
    t.type(await refused(saw, () => loose('orders:*', 'orders:read')), TypeError)
    t.type(await refused(saw, () => loose(['orders:*'], 'orders:*')), TypeError)
  },
  async L10(t, saw) {
    const text = (length: number): string => 'x'.repeat(length)
    t.type(await refused(saw, () => (mintToken as Loose)('service_dk_', text)), TypeError)
    t.type(await refused(saw, () => (mintSecret as Loose)(text)), TypeError)
  },
  async L11(t, saw) {
    const secret = mintSecret((length) => new Uint8Array(length).fill(7))
    for (const options of [{ tolerence: 60 }, { tolerance: Number.NaN }, 60]) {
      const call = (): unknown => (verifyWebhook as Loose)('{}', {}, secret, options)
      t.type(await refused(saw, call), TypeError)
    }
  },
  async L12(t, saw) {
    const open = createKeyhook as Loose
    t.match(await refused(saw, () => open({ dataDirectory: dataDir })), {
      message: /^createKeyhook: unknown name dataDirectory in options; allowed: .*\bdataDir\b/,
    })
    t.type(await refused(saw, () => open({ dataDir, dispatch: 'false' })), TypeError)
    const held = await refused(saw, () => open({ dataDir, logLevel: 'silent' }))
    t.match(held.message, `dataDir ${dataDir} is held by this process already`)
    t.match(held.message, 'Call createKeyhook once')
    t.match(held.message, 'or set dataDir to another folder')
    // Answers ENOENT to whatever is made in it, although it is there.
    const nowhere = await refused(saw, () => open({ dataDir: '/proc/nope', logLevel: 'silent' }))
    t.match(nowhere.message, /^dataDir \/proc\/nope cannot be created: ENOENT/)
  },
}

/** Asks the mounted API, as a page of the embedder's own does, to create a key. */
async function createAs(keyhook: Keyhook, signedIn: object): Promise<Response> {
  const resolve = (() => Promise.resolve(signedIn)) as unknown as () => Promise<undefined>
  const server = createServer(keyhook.callback({ resolve }))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  try {
    return await fetch(`http://127.0.0.1:${port}/v1/keys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ name: 'k', scopes: ['orders:read'] }),
    })
  } finally {
    server.close()
  }
}

await t.test('arguments of the library', (t) => runSection(t, ARGUMENTS, CHECKS))
