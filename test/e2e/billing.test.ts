import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import { HOUR } from '../../lib/time.ts'
import { API_VERSION } from '../../plugins/billing/stripe/client.ts'
import type { Arrangement } from '../../plugins/billing/memory/arrange.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import type { FakeStripe } from '../fake-stripe/fake.ts'
import { startFakeStripe } from '../fake-stripe/server.ts'
import { tillOf } from '../fake-stripe/till.ts'
import { OWNER_CHANGES } from '../support/billing.ts'
import { askControl } from '../support/control.ts'
import type { DaemonProcess, Env } from '../support/daemon.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import { startPostgres } from '../support/postgres.ts'
import { settingsOf } from '../support/stripe.ts'
import type { AnyBody } from '../support/world.ts'

const CREDENTIALS = { email: 'owner@example.com', password: 'password canary 0123456789' }

interface Answer {
  readonly status: number
  readonly body: AnyBody
}

/** A user in a browser, or a program with a key. */
type Asking = (method: string, path: string, body?: AnyBody) => Promise<Answer>

function asking(url: string, credentials: Readonly<Record<string, string>>): Asking {
  return async (method, path, body) => {
    const headers = { ...credentials, origin: url, 'idempotency-key': randomUUID() }
    const answer = await fetch(url + path, {
      method,
      headers: {
        ...headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: (await answer.json()) as AnyBody }
  }
}

async function signIn(url: string): Promise<Asking> {
  const answer = await fetch(`${url}/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify(CREDENTIALS),
  })
  await answer.arrayBuffer()
  const [cookie = ''] = answer.headers.getSetCookie().map((one) => one.split(';')[0] ?? '')
  return asking(url, { cookie })
}

async function send(
  { url }: Pick<DaemonProcess, 'url'>,
  fake: FakeStripe,
  how?: Arrangement,
): Promise<readonly number[]> {
  const statuses: number[] = []
  for (const { headers, body } of await tillOf(fake).take(how)) {
    const answer = await fetch(`${url}/hooks/billing/stripe`, {
      method: 'POST',
      headers: headers as Record<string, string>,
      body: Buffer.from(body),
    })
    await answer.arrayBuffer()
    statuses.push(answer.status)
  }
  return statuses
}

/** Lets the next daemon sweep at once, as if an hour had passed. */
async function makeSweepDue(database: string): Promise<void> {
  const { store } = await openPlatformStore(database)
  await store.write(async (tx) => {
    await tx.jobs.dequeue('billing_sweep')
    const sweep = await tx.payments.sweep('stripe')
    if (sweep === undefined) throw new Error('nothing was swept at the start')
    await tx.payments.putSweep({ ...sweep, swept_at: sweep.swept_at - 2 * HOUR })
  })
  await store.close()
}

async function walk(t: Test, folder: string, database: string, env: Env): Promise<void> {
  const fake = await startFakeStripe({ version: API_VERSION })
  t.teardown(() => fake.close())
  const till = tillOf(fake)
  const settings: Env = {
    KEYHOOK_DATA_DIR: folder,
    KEYHOOK_OWNER_EMAIL: CREDENTIALS.email,
    KEYHOOK_OWNER_PASSWORD: CREDENTIALS.password,
    KEYHOOK_MASTER_KEY: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
    KEYHOOK_BILLING: 'stripe',
    ...(settingsOf(fake.url) as Record<string, string>),
    ...env,
  }
  let daemon = await startDaemonProcess(settings)
  t.teardown(() => daemon.end('SIGTERM').then(() => undefined))
  let user = await signIn(daemon.url)
  const mint = () => user('POST', '/v1/keys', { name: 'agent', scopes: ['*:*'] })
  const walletOf = async () => (await user('GET', '/v1/billing/wallet')).body
  const holds = (balance: string, debt = 0) =>
    until(`a balance of ${balance}`, async () => {
      const wallet = await walletOf()
      return wallet['balance'] === balance && wallet['debt_micros'] === debt
    })

  t.match(await mint(), { status: 403, body: { error: { code: 'dev_api_not_enabled' } } })
  const asked = await user('POST', '/v1/billing/subscribe', { plan: 'pro' })
  t.match(asked, { status: 201, body: { checkout_url: /^http/, session_id: /^cs_/ } })
  const page = await fetch(`${daemon.url}/billing/done`)
  t.equal(page.status, 200)
  await page.arrayBuffer()
  t.match(await walletOf(), { balance: '0.00', plan: 'free' }, 'the page moves no money')
  await till.pay(String(asked.body['session_id']))
  const taken = await send(daemon, fake, { copies: 2, order: 'reverse' })
  t.ok(taken.length > 0 && taken.every((status) => status === 200))
  await holds('25.00')
  await until('Pro', async () => (await walletOf())['plan'] === 'pro')
  const minted = await mint()
  t.equal(minted.status, 201)
  const key = asking(daemon.url, { authorization: `Bearer ${String(minted.body['key'])}` })
  for (const [method, path, body] of OWNER_CHANGES) {
    const refused = await key(method, `/v1/billing/${path}`, body)
    t.match(refused, { status: 403, body: { error: { code: 'owner_required' } } }, path)
  }
  t.match(await key('GET', '/v1/billing/invoices'), { status: 200, body: { data: { length: 1 } } })
  t.equal((await key('GET', '/v1/billing/invoices/in_of_another')).status, 404)

  const topup = await user('POST', '/v1/billing/topup', { amount: '10.00' })
  t.equal(topup.status, 201)
  const session = fake.state.all('sessions').find(({ id }) => id !== asked.body['session_id'])
  await till.pay(session?.id ?? '')
  t.ok((await till.take()).length > 0, 'lost')
  t.match(await walletOf(), { balance: '25.00' })
  await daemon.end('SIGKILL')
  await makeSweepDue(database)
  daemon = await startDaemonProcess(settings)
  user = await signIn(daemon.url)
  await holds('35.00')

  const charge = fake.state.all('charges').find(({ amount }) => amount === 1000)
  const month = fake.state.all('charges').find(({ amount }) => amount === 2500)
  await till.refund(charge?.id ?? '', 10_000_000)
  await send(daemon, fake, { copies: 3, order: 'random', seed: 'seven' })
  await holds('25.00')
  const dispute = await till.dispute(month?.id ?? '', 25_000_000)
  await send(daemon, fake, { copies: 2 })
  await holds('0.00')
  await till.win(dispute)
  await send(daemon, fake, { copies: 2, order: 'reverse' })
  await holds('25.00')

  const { headers, body } = till.forge(till.stray().body, Date.now())
  const forged = await fetch(`${daemon.url}/hooks/billing/stripe`, {
    method: 'POST',
    headers: headers as Record<string, string>,
    body: Buffer.from(body),
  })
  t.match(await forged.json(), { error: { code: 'invalid_signature' } })
  t.equal(forged.status, 400)
  t.same(await till.count(), { customers: 1, checkouts: 2 })
  const verified = await askControl(folder)('GET', '/v1/billing/ledger/verify')
  t.match(verified, { accounts: 1, differences_total: 0 })
  const log = daemon.output()
  for (const secret of Object.values(settingsOf('http://127.0.0.1:9'))) {
    if (secret !== undefined && /^(sk|whsec)_/.test(secret)) t.notMatch(log, secret)
  }
}

await t.test('SQLite: from the free plan to Pro, credit, refund and dispute', async (t) => {
  const folder = t.testdir()
  await walk(t, folder, join(folder, 'keyhook.db'), {})
})

await t.test('PostgreSQL: from the free plan to Pro, credit, refund and dispute', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  const database = await server.createDatabase()
  await walk(t, t.testdir(), database, { KEYHOOK_DATABASE_URL: database })
})
