import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import type * as Verify from '../../lib/webhook/verify.ts'
import { SETTINGS } from '../../daemon/config/settings.ts'
import { until } from '../support/daemon.ts'
import { packKeyhook } from '../support/packed.ts'
import { openShell, walk } from '../support/page.ts'
import { startPostgres } from '../support/postgres.ts'
import type { ReceivedRequest, Receiver } from '../support/receiver.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'
import type { Database, RunningShop, Shop } from '../support/shop.ts'
import { openShop } from '../support/shop.ts'
import { sized } from '../support/soak.ts'

/** Every database and every server of the page at least once; in the short form one of each kind of SQL. */
const VARIANTS = [
  { database: 'sequelize-sqlite', server: 'express', again: 500 },
  { database: 'sequelize-postgres', server: 'koa', again: 500 },
  { database: 'pool', server: 'fastify', again: 500 },
  { database: 'drizzle', server: 'express', again: 500 },
  { database: 'kysely', server: 'koa', again: 500 },
  { database: 'own-file', server: 'node-http', again: 201 },
  { database: 'own-file', server: 'hono', again: 201 },
] as const

const MINE = { name: 'mine', scopes: ['orders:*', 'keys:*', 'webhooks:read'] }

const bearing = ({ key }: Created): Headers => ({ authorization: `Bearer ${key}` })

/** In this order: the last one ends the key. */
const CLAIMS = {
  'who is signed in sees the own account and no other': provesAccounts,
  'a page of another site changes nothing with a cookie': provesOrigins,
  'the routes of the shop are its own': provesRoutes,
  'a paid order arrives signed, one that was rolled back never': provesOrders,
  'a key is refused once it is narrowed, and once it is revoked': provesKeys,
} satisfies Record<string, (t: Test, open: OpenShop) => Promise<void>>

const packed = await packKeyhook()
const postgres = await startPostgres()
t.teardown(async () => {
  await postgres.stop()
  await packed.remove()
})

for (const { database, server, again } of VARIANTS.slice(0, sized(2, undefined))) {
  await t.test(`${database} in ${server}, as docs/embed.md has it`, async (t) => {
    const receiver = await startReceiver(answerWith('HTTP/1.1 204 No Content\r\n\r\n'))
    t.teardown(() => receiver.close())
    const databaseUrl = await urlFor(database)
    const shop = await openShop(packed, { database, server, databaseUrl })

    await t.test('its commands print what the page says', (t) => runCommands(t, shop))

    const running = await shop.start()
    t.teardown(() => running.stop())
    const callers = callersOf(running)
    const { body: key } = await callers.anna<Created>('POST', '/developer/v1/keys', MINE)
    const open: OpenShop = { ...callers, shop, running, receiver, key, again }
    for (const [claim, prove] of Object.entries(CLAIMS)) {
      await t.test(claim, (t) => prove(t, open))
    }
    t.equal(await running.stop(), 0, 'it ends by SIGTERM')
  })
}

await t.test('without dispatch nothing is sent until the dispatcher is started', async (t) => {
  const receiver = await startReceiver(answerWith('HTTP/1.1 204 No Content\r\n\r\n'))
  t.teardown(() => receiver.close())
  const shop = await openShop(packed, { database: 'own-file', server: 'node-http' })
  const open = `
    import { createKeyhook } from 'keyhook/daemon'
    import { settings } from './settings.mjs'
    const keyhook = await createKeyhook({ ...settings, dispatch: false })
    const { webhooks } = keyhook.as('acct_1')
  `
  await shop.run(`${open}
    await webhooks.create({ url: 'http://127.0.0.1:${receiver.port}', events: ['order.paid'] })
    await keyhook.webhooks.publish({ account_id: 'acct_1', type: 'order.paid', data: {} })
    await keyhook.stop()
  `)
  t.equal(receiver.requests.length, 0)
  await shop.run(`${open}
    const { data } = await webhooks.list()
    await keyhook.dispatcher.start()
    for (let status; status !== 'succeeded'; ) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      const deliveries = await webhooks.listDeliveries({ webhook_id: data[0].id })
      status = deliveries.data[0].status
    }
    await keyhook.stop()
  `)
  t.equal(receiver.requests.length, 1)
})

await t.test('a body that somebody else has read is said to be missing', async (t) => {
  const choice = { database: 'own-file', server: 'express' } as const
  const shop = await openShop(packed, choice)
  const server = join(shop.folder, 'server.mjs')
  const text = await readFile(server, 'utf8')
  await writeFile(server, text.replace('app.use(keyhook', 'app.use(express.json())\n$&'))
  const running = await shop.start()
  t.teardown(() => running.stop())
  const { anna } = callersOf(running)
  const { status, body } = await anna<Refused>('POST', '/developer/v1/keys', MINE)
  t.equal(status, 500)
  t.equal(body.error.code, 'body_consumed')
})

await t.test('settings go by the names of docs/config.md in camel case', async (t) => {
  for (const [name, { env }] of Object.entries(SETTINGS)) {
    const words = name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
    t.equal(`KEYHOOK_${words}`, env)
  }
})

/** A shop that runs, a key of Anna's, and who asks. */
interface OpenShop extends ReturnType<typeof callersOf> {
  readonly shop: Shop
  readonly running: RunningShop
  readonly receiver: Receiver
  readonly key: Created
  /** What paying an order a second time is answered. */
  readonly again: number
}

async function provesAccounts(t: Test, { call, anna, ben, key }: OpenShop): Promise<void> {
  const keys = '/developer/v1/keys'
  t.equal((await call('GET', keys)).status, 401)
  t.equal((await anna('GET', `${keys}/${key.id}`)).status, 200)
  t.equal((await ben('GET', `${keys}/${key.id}`)).status, 404)
  t.strictSame((await ben<Listed>('GET', keys)).body.data, [])
}

async function provesOrigins(t: Test, { call, running }: OpenShop): Promise<void> {
  const statusFrom = async (origin: Headers): Promise<number> => {
    const headers = { cookie: 'session=anna', ...origin }
    return (await call('POST', '/developer/v1/keys', MINE, headers)).status
  }
  t.equal(await statusFrom({}), 403)
  t.equal(await statusFrom({ 'sec-fetch-site': 'same-site' }), 403)
  t.equal(await statusFrom({ origin: 'http://elsewhere.example' }), 403)
  t.equal(await statusFrom({ origin: running.url }), 201)
}

async function provesRoutes(t: Test, { call, running }: OpenShop): Promise<void> {
  for (const path of ['/', '/v1/keys', '/developers', '/developer-pages']) {
    const { status, headers } = await call('GET', path)
    t.equal(status, 404, path)
    t.equal(headers.get('x-request-id'), null, path)
  }
  const docs = await fetch(`${running.url}/developer/docs`)
  t.equal(docs.status, 200)
  t.match(await docs.text(), /<!doctype html>/i)
}

async function provesOrders(
  t: Test,
  { shop, call, anna, key, again, receiver }: OpenShop,
): Promise<void> {
  const hook = { url: `http://127.0.0.1:${receiver.port}/anna`, events: ['order.paid'] }
  const { body } = await anna<Created>('POST', '/developer/v1/webhooks', hook)
  const pay = async (number: string): Promise<number> =>
    (await call('POST', '/orders', { number }, bearing(key))).status
  t.equal(await pay('o_3'), 201)
  t.equal(await pay('o_3'), again, 'a second time')
  t.equal(await pay('o_4'), 201)

  const arrived = () => receiver.requests.filter(({ head }) => head.startsWith('POST /anna'))
  await until('both arrive', () => arrived().length >= 2)
  const events = await verifyAll(shop, arrived(), body.secret)
  t.strictSame(events.map(({ data }) => String(data['number'])).sort(), ['o_3', 'o_4'])
  const listed = await anna<Listed>('GET', '/developer/v1/events')
  t.equal(listed.body.data.length, 4, 'with those of the page')
}

async function provesKeys(t: Test, { shop, call, anna, key }: OpenShop): Promise<void> {
  const path = `/developer/v1/keys/${key.id}`
  const refusal = async (headers: Headers): Promise<string> =>
    (await call<Refused>('POST', '/orders', { number: 'o_5' }, headers)).body.error.code
  t.equal(await refusal({}), 'missing_credentials')
  t.equal(await refusal({ authorization: 'Bearer nonsense' }), 'invalid_key')

  await anna('PATCH', path, { scopes: ['orders:read', 'keys:read', 'webhooks:read'] })
  t.equal(await refusal(bearing(key)), 'insufficient_scope')
  const customer = openShell(shop.folder, { ...shop.env, SHOP_KEY: key.key })
  t.match(await customer.run('node customer.mjs'), /^2 webhooks\nkey mine$/m)
  await customer.close()

  await anna('DELETE', path)
  t.equal(await refusal(bearing(key)), 'key_revoked')
}

/** The API's answers, as far as they are looked at here. */
interface Created {
  readonly id: string
  readonly key: string
  readonly secret: string
}

interface Listed {
  readonly data: readonly object[]
}

interface Refused {
  readonly error: { readonly code: string }
}

type Headers = Readonly<Record<string, string>>

/** Whoever asks the shop over HTTP: a stranger, and two of its users in their browsers. */
function callersOf({ url }: RunningShop) {
  async function call<Body>(method: string, path: string, body?: object, headers: Headers = {}) {
    const response = await fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const answer = (
      response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : {}
    ) as Body
    return { status: response.status, headers: response.headers, body: answer }
  }
  const inBrowser =
    (cookie: string) =>
    <Body>(method: string, path: string, body?: object) =>
      call<Body>(method, path, body, { cookie, 'sec-fetch-site': 'same-origin' })
  return { call, anna: inBrowser('session=anna'), ben: inBrowser('session=ben') }
}

async function urlFor(database: Database): Promise<string | undefined> {
  const isRemote = database !== 'sequelize-sqlite' && database !== 'own-file'
  return isRemote ? postgres.createDatabase() : undefined
}

/** Every command of the page but those that install. */
async function runCommands(t: Test, { folder, env, blocks }: Shop): Promise<void> {
  const shell = openShell(folder, env)
  await walk(t, blocks, shell)
  await shell.close()
}

/** Verifies with the secret, by the package's own `keyhook/verify`. */
async function verifyAll(
  { folder }: Shop,
  requests: readonly ReceivedRequest[],
  secret: string,
): Promise<readonly Verify.VerifiedWebhook[]> {
  const entry = createRequire(join(folder, 'server.mjs')).resolve('keyhook/verify')
  const { verifyWebhook } = (await import(entry)) as typeof Verify
  const verified = requests.map(({ head, body }) => {
    const fields = [...head.matchAll(/^([\w-]+): (.*)$/gm)]
    const headers = Object.fromEntries(
      fields.map(([, name = '', value = '']) => [name, value.trim()]),
    )
    return verifyWebhook(Buffer.from(body, 'latin1'), headers, secret)
  })
  return Promise.all(verified)
}
