import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createBilling } from '../../daemon/billing/billing.ts'
import { sweep } from '../../daemon/billing/sweep-job.ts'
import type { Prices } from '../../daemon/billing/prices.ts'
import { loadPrices, openBilling } from '../../daemon/composition/billing.ts'
import { ConfigError, readConfig } from '../../daemon/config/config.ts'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import { FAMILIES } from '../../daemon/families/index.ts'
import { createFileHandler } from '../../daemon/families/files/process.ts'
import { filesFamily } from '../../daemon/families/files/family.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import { runJobs, jobTimes } from '../../daemon/jobs/runner.ts'
import { DAY, HOUR, MINUTE } from '../../lib/time.ts'
import { EditError } from '../../plugins/edits/contract.ts'
import { createMemoryEditor } from '../../plugins/edits/memory.ts'
import { fileError } from '../../plugins/files/contract.ts'
import { createClock } from '../support/clock.ts'
import { pricesOf, walletOf } from '../support/billing.ts'
import type { Edit } from '../support/edits.ts'
import {
  ask,
  at,
  createApp,
  createHeldEditor,
  eventsOf,
  operationsOf,
  startWorker,
  untilEnded,
} from '../support/edits.ts'
import type { SentFiles } from '../support/knowledge.ts'
import { formOf } from '../support/knowledge.ts'
import { scripted, until } from '../support/processing.ts'
import type { AnyBody, World, WorldOptions } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

type Scope = Parameters<typeof createWorld>[0]

const PRICES = {
  'apps.create': 500,
  'edits.create': 100,
  'files.upload': 2,
}
const START = Date.UTC(2026, 0, 31)
/** A prompt that its editor cannot carry out. */
const BAD = 'bad'

/** A world in which work costs something, with an app and a worker of each kind. */
async function openWorld(t: Scope, options: WorldOptions = {}) {
  const editor = createMemoryEditor({
    script(task) {
      if (task.prompt === BAD) throw new EditError('model_refused')
      return operationsOf(task)
    },
  })
  const families = [appsFamily, editsFamily, filesFamily]
  const world = await createWorld(t, { prices: pricesOf(PRICES), editor, ...options, families })
  const { id: app } = await createApp(world)
  const work = () => {
    const worker = runJobs(
      world.platform,
      createLog('silent'),
      createFileHandler,
      jobTimes('file'),
      HOUR,
    )
    t.teardown(() => worker.stop())
    startWorker(t, world)
  }
  return {
    ...world,
    ...asked(world, app),
    app,
    work,
    ...walletOf(world),
  }
}

function asked(world: World, app: string) {
  const { request } = world
  const count = async (path: string): Promise<number> =>
    (await request<{ data: [] }>('GET', path)).body.data.length
  return {
    edits: () => count(`/v1/apps/${app}/edits`),
    files: () => count(`/v1/apps/${app}/files`),
    apps: () => count('/v1/apps'),
    upload: (files: SentFiles) =>
      request<{ data: AnyBody[] }>('POST', `/v1/apps/${app}/files`, { form: formOf(files) }),
    async fileEnded(id: string) {
      const path = `/v1/apps/${app}/files/${id}`
      const status = async () => (await request('GET', path)).body['status']
      await until(async () => ['processed', 'failed'].includes(String(await status())))
      return status()
    },
    async charged(): Promise<readonly unknown[]> {
      const events = await eventsOf(world)
      return events
        .filter(({ type }) => type.startsWith('edit.'))
        .map(({ type, data }) => `${type} ${String(data['charged_micros'])}`)
    },
  }
}

/** Has everything from here on charged at other prices. */
function priceAnew(platform: World['platform'], prices: Prices): void {
  const ports = { mode: 'internal', currency: 'USD', prices, ...platform }
  Object.assign(platform, { billing: createBilling(ports) })
}

const refused = (operation: string, required_micros: number, available_micros: number) => ({
  status: 402,
  body: {
    error: {
      code: 'insufficient_balance',
      status: 402,
      details: { operation, required_micros, available_micros, currency: 'USD', source: 'wallet' },
    },
  },
})

await t.test(
  'without the money there is 402 and no row, and nothing else is blocked',
  async (t) => {
    const world = await openWorld(t)
    const { request, app, grant, wallet, edits, files, apps, upload } = world
    await grant(99)
    t.match(await ask(world, app, 'hello'), refused('edits.create', 100, 99))
    t.equal(await edits(), 0)
    const made = await request('POST', '/v1/apps', { body: { prompt: 'A shop' } })
    t.match(made, refused('apps.create', 500, 99))
    t.equal(made.headers.get('retry-after'), null, 'waiting does not help')
    t.equal(await apps(), 1)
    t.match(await upload([['a.md', 'x'.repeat(50)]]), refused('files.upload', 100, 99))
    const two = [
      ['a.md', 'x'.repeat(30)],
      ['b.md', 'y'.repeat(30)],
    ] as const
    t.match(await upload(two), refused('files.upload', 120, 99), 'all of them or none')
    t.equal(await files(), 0)
    t.same(await wallet(), { balance: 99, held: 0 })
    const told = (await eventsOf(world)).map(({ type }) => type)
    t.same(
      told.toSorted(),
      ['app.created', 'billing.credited'],
      'of what is refused nothing is told',
    )
    const operations = [{ op: 'write', path: 'a.txt', content: 'a' }]
    const structured = { body: { operations, base_revision: 1 } }
    t.match(await request('POST', `/v1/apps/${app}/edits`, structured), { status: 201 })
    t.match(await request('POST', '/v1/apps', { body: { template_id: 'blank' } }), { status: 201 })
    t.match(await request('DELETE', `/v1/apps/${app}`), { status: 200 })
  },
)

await t.test('money is held while an edit waits, and taken once it is completed', async (t) => {
  const world = await openWorld(t)
  const { app, work, grant, wallet, charged } = world
  await grant(250)
  const edit = await ask(world, app, 'hello')
  t.equal(edit.status, 202)
  t.same(await wallet(), { balance: 250, held: 100 })
  work()
  t.match(await untilEnded(world, edit.body), { status: 'completed' })
  t.same(await wallet(), { balance: 150, held: 0 })
  t.same(await charged(), ['edit.completed 100'])
})

await t.test('of two edits that race for the last of the money one is made', async (t) => {
  const world = await openWorld(t)
  const { app, work, grant, wallet, edits } = world
  await grant(199)
  const answers = await Promise.all(['one', 'two'].map((prompt) => ask(world, app, prompt)))
  t.same(new Set(answers.map(({ status }) => status)), new Set([202, 402]))
  t.equal(await edits(), 1)
  t.same(await wallet(), { balance: 199, held: 100 })
  work()
  const won = answers.find(({ status }) => status === 202)?.body as Edit
  t.match(await untilEnded(world, won), { status: 'completed' })
  t.same(await wallet(), { balance: 99, held: 0 })
})

await t.test('an edit that fails, or is canceled, costs nothing', async (t) => {
  const { editor, until: begun } = createHeldEditor()
  const world = await openWorld(t, { editor })
  const { app, request, work, grant, wallet, charged } = world
  await grant(300)
  const running = (await ask(world, app, 'running')).body
  const queued = (await ask(world, app, 'queued')).body
  t.same(await wallet(), { balance: 300, held: 200 })
  await request('POST', `${at(queued)}/cancel`)
  t.same(await wallet(), { balance: 300, held: 100 }, 'one that waits, at once')
  work()
  await begun('running')
  t.match(await request('POST', `${at(running)}/cancel`), { status: 202 })
  t.match(await untilEnded(world, running), { status: 'canceled' })
  t.same(await wallet(), { balance: 300, held: 0 })
  await ask(world, app, 'archived')
  await request('DELETE', `/v1/apps/${app}`)
  await until(async () => (await wallet()).held === 0)
  t.same(await wallet(), { balance: 300, held: 0 })
  t.same(new Set(await charged()), new Set(['edit.failed 0']))

  const other = await openWorld(t)
  await other.grant(100)
  other.work()
  t.match(await untilEnded(other, (await ask(other, other.app, BAD)).body), { status: 'failed' })
  t.same(await other.wallet(), { balance: 100, held: 0 })
  t.same(await other.charged(), ['edit.failed 0'])
})

await t.test('an app that a prompt makes is paid for as that, once it is made', async (t) => {
  const world = await openWorld(t)
  const { request, work, grant, wallet, charged } = world
  await grant(1000)
  const make = async (prompt: string) => {
    const { body } = await request('POST', '/v1/apps', { body: { prompt } })
    return { id: String(body['edit_id']), app_id: body['id'], status: '', result_revision: null }
  }
  const failed = await make(BAD)
  t.same(await wallet(), { balance: 1000, held: 500 })
  work()
  t.match(await untilEnded(world, failed), { status: 'failed' })
  t.same(await wallet(), { balance: 1000, held: 0 })
  t.match(await untilEnded(world, await make('A shop')), { status: 'completed' })
  t.same(await wallet(), { balance: 500, held: 0 })
  t.same(await charged(), ['edit.failed 0', 'edit.completed 500'])
})

await t.test('a replay by its Idempotency-Key holds once', async (t) => {
  const world = await openWorld(t)
  const { app, request, work, grant, wallet, edits } = world
  await grant(150)
  const asking = { body: { prompt: 'hello' }, headers: { 'idempotency-key': 'one' } }
  const path = `/v1/apps/${app}/edits`
  const [first, twin] = await Promise.all([
    request<Edit>('POST', path, asking),
    request<Edit>('POST', path, asking),
  ])
  t.match([first.status, twin.status], [202, 202])
  t.equal(first.body.id, twin.body.id)
  t.same(await wallet(), { balance: 150, held: 100 })
  work()
  await untilEnded(world, first.body)
  t.match(await request('POST', path, asking), { status: 202, body: { id: first.body.id } })
  t.same(await wallet(), { balance: 50, held: 0 })
  t.equal(await edits(), 1)
})

await t.test('a file is paid for by its bytes, once it is processed', async (t) => {
  const fails = new Set([2])
  const { processor } = scripted((call) => {
    if (fails.has(call)) throw fileError('damaged')
  })
  const world = await openWorld(t, { fileProcessor: processor })
  const { app, request, work, grant, wallet, upload, fileEnded } = world
  await grant(100)
  const text = 'x'.repeat(20)
  const sent = await upload([['a.md', text]])
  t.same(await wallet(), { balance: 100, held: 40 })
  const again = await upload([['b.md', text]])
  t.equal(again.body.data[0]?.['id'], sent.body.data[0]?.['id'])
  t.same(await wallet(), { balance: 100, held: 40 }, 'the same bytes are one file')
  work()
  t.equal(await fileEnded(String(sent.body.data[0]?.['id'])), 'processed')
  t.same(await wallet(), { balance: 60, held: 0 })

  const { body } = await upload([['c.md', 'y'.repeat(25)]])
  const id = String(body.data[0]?.['id'])
  t.equal(await fileEnded(id), 'failed')
  t.same(await wallet(), { balance: 60, held: 0 })
  const retry = () => request('POST', `/v1/apps/${app}/files/${id}/retry`)
  await grant(50)
  const edit = await ask(world, app, 'hello')
  t.equal(edit.status, 202)
  t.match(await retry(), refused('files.upload', 50, 10))
  t.match((await request('GET', `/v1/apps/${app}/files/${id}`)).body, { status: 'failed' })
  await untilEnded(world, edit.body)
  await grant(40)
  t.match(await retry(), { status: 202 })
  t.equal(await fileEnded(id), 'processed')
  t.same(await wallet(), { balance: 0, held: 0 })
})

await t.test('a file that is deleted before it is processed costs nothing', async (t) => {
  const world = await openWorld(t)
  const { app, request, grant, wallet, upload } = world
  await grant(100)
  const { body } = await upload([['a.md', 'x'.repeat(20)]])
  t.same(await wallet(), { balance: 100, held: 40 })
  const path = `/v1/apps/${app}/files/${String(body.data[0]?.['id'])}`
  t.match(await request('DELETE', path), { status: 200 })
  t.same(await wallet(), { balance: 100, held: 0 })
})

await t.test('a price version applies to what was held at it', async (t) => {
  const world = await openWorld(t)
  const { app, platform, account, grant, wallet, work } = world
  await grant(1000)
  const edit = (await ask(world, app, 'hello')).body
  priceAnew(platform, pricesOf({ ...PRICES, 'edits.create': 700 }))
  work()
  t.match(await untilEnded(world, edit), { status: 'completed' })
  t.same(await wallet(), { balance: 900, held: 0 })
  const { rows } = await platform.store.ledger.transactions({
    account_id: account.id,
    kind: 'capture',
    app_id: null,
    key_id: null,
    from: null,
    to: null,
    limit: 9,
    after: null,
  })
  t.match(rows, [{ operation: 'edits.create', amount: -100, price_version: 'v1', app_id: app }])
})

await t.test('work whose hold has expired is not carried out, and not charged', async (t) => {
  const clock = createClock(START)
  const world = await openWorld(t, { clock })
  const { app, request, platform, upload, grant, wallet, verified, charged } = world
  await grant(1000)
  const edit = (await ask(world, app, 'hello')).body
  const sent = await upload([['a.md', 'x'.repeat(20)]])
  const file = String(sent.body.data[0]?.['id'])
  t.same(await wallet(), { balance: 1000, held: 140 })
  clock.set(DAY - 1)
  await sweep(platform)
  t.same(await wallet(), { balance: 1000, held: 140 }, 'not before its deadline')
  clock.set(1)
  await sweep(platform)
  t.same(await wallet(), { balance: 1000, held: 0 })
  world.work()
  await until(async () => (await request('GET', at(edit))).body['status'] === 'failed')
  t.match((await request('GET', at(edit))).body, { error: { code: 'hold_expired' } })
  const path = `/v1/apps/${app}/files/${file}`
  await until(async () => (await request('GET', path)).body['status'] === 'failed')
  t.match((await request('GET', path)).body, { error: { code: 'hold_expired' } })
  t.same(await charged(), ['edit.failed 0'])
  t.same(await wallet(), { balance: 1000, held: 0 })
  t.same(await verified(), [])
})

await t.test('a file whose hold has expired is free when its price has become 0', async (t) => {
  const clock = createClock(START)
  const world = await openWorld(t, { clock })
  const { app, request, platform, upload, grant, wallet, verified, fileEnded } = world
  await grant(1000)
  const file = String((await upload([['a.md', 'x'.repeat(20)]])).body.data[0]?.['id'])
  clock.set(DAY)
  await sweep(platform)
  world.work()
  t.equal(await fileEnded(file), 'failed')
  const retry = () => request('POST', `/v1/apps/${app}/files/${file}/retry`)
  priceAnew(platform, pricesOf(PRICES, { ...PRICES, 'files.upload': 0 }))
  t.match(await retry(), { status: 202 })
  t.equal(await fileEnded(file), 'processed')
  t.same(await wallet(), { balance: 1000, held: 0 })
  t.same(await verified(), [])
})

await t.test('work that begins late is held until it must have ended', async (t) => {
  const clock = createClock(START)
  const { editor, until: begun, release } = createHeldEditor()
  const world = await openWorld(t, { clock, editor })
  const { app, request, platform, grant, wallet } = world
  await grant(1000)
  const edit = (await ask(world, app, 'hello')).body
  clock.set(DAY - MINUTE)
  world.work()
  await begun('hello')
  clock.set(5 * MINUTE)
  await sweep(platform)
  t.same(await wallet(), { balance: 1000, held: 100 })
  await release('hello')
  await until(async () => (await request('GET', at(edit))).body['status'] === 'completed')
  t.same(await wallet(), { balance: 900, held: 0 })
})

await t.test('credit that has expired pays for nothing, whether or not a sweep ran', async (t) => {
  const clock = createClock(START)
  const world = await openWorld(t, { clock })
  const { app, grant, wallet, platform } = world
  await grant(100, START + DAY)
  clock.set(DAY)
  t.match(await ask(world, app, 'late'), refused('edits.create', 100, 0))
  await sweep(platform)
  t.same(await wallet(), { balance: 0, held: 0 })
  t.same(await world.verified(), [])
})

await t.test('the settings of billing are checked at the start', async (t) => {
  t.match(readConfig({}), { billing: 'none', currency: 'USD', prices: undefined })
  t.equal(readConfig({ KEYHOOK_BILLING: 'internal' }).billing, 'internal')
  const stripe = {
    KEYHOOK_BILLING: 'stripe',
    KEYHOOK_STRIPE_API_KEY: 'sk_test_a1',
    KEYHOOK_STRIPE_WEBHOOK_SECRET: 'whsec_a1',
    KEYHOOK_STRIPE_PRICE_PRO: 'price_a1',
  }
  t.match(readConfig(stripe), { billing: 'stripe', stripeApiKey: 'sk_test_a1' })
  for (const missing of Object.keys(stripe).slice(1)) {
    t.throws(() => readConfig({ ...stripe, [missing]: undefined }), {
      message: `KEYHOOK_BILLING is set, and ${missing} must be set with it`,
    })
  }
  for (const KEYHOOK_STRIPE_BASE_URL of [
    'https://stripe.example.com',
    'http://127.0.0.1:9/v1',
    'ftp://127.0.0.1',
    'x',
  ]) {
    t.throws(
      () => readConfig({ ...stripe, KEYHOOK_STRIPE_BASE_URL }),
      /^KEYHOOK_STRIPE_BASE_URL must be the origin of a server on loopback/,
    )
  }
  t.throws(() => readConfig({ KEYHOOK_BILLING: 'two words' }), /^KEYHOOK_BILLING must be none/)
  for (const KEYHOOK_CURRENCY of ['usd', 'US', 'USDT', '$']) {
    t.throws(() => readConfig({ KEYHOOK_CURRENCY }), /^KEYHOOK_CURRENCY must be three capital/)
  }
})

await t.test('currency and used price versions stay as they were', async (t) => {
  const world = await createWorld(t, { prices: pricesOf(PRICES) })
  const { platform } = world
  const ports = { ...platform, prices: pricesOf(PRICES) }
  const config = { billing: 'internal', currency: 'USD' } as const
  t.match(await openBilling(config, ports), { mode: 'internal', metered: true, currency: 'USD' })
  await t.rejects(openBilling({ ...config, currency: 'EUR' }, ports), {
    message:
      'KEYHOOK_CURRENCY is EUR, but the amounts of this database are in USD. Set KEYHOOK_CURRENCY to USD',
  })
  const changed = pricesOf({ ...PRICES, 'edits.create': 101 })
  await t.rejects(openBilling(config, { ...ports, prices: changed }), {
    message: 'KEYHOOK_PRICES changes version v1, which was in use. Give it a new version',
  })
  const next = pricesOf(PRICES, { ...PRICES, 'edits.create': 101 })
  t.match(await openBilling(config, { ...ports, prices: next }), { metered: true })
  t.match(await openBilling({ ...config, billing: 'none' }, ports), { metered: false })
})

await t.test('a price file is read by its path', async (t) => {
  const { versions } = pricesOf(PRICES)
  const file = join(t.testdir(), 'prices.json')
  const printed = versions.map((one) => ({
    ...one,
    effective_at: new Date(one.effective_at).toISOString(),
  }))
  writeFileSync(file, JSON.stringify({ versions: printed }))
  t.same((await loadPrices({ prices: file }, FAMILIES)).versions, versions)
  writeFileSync(file, '{"versions":[]}')
  await t.rejects(loadPrices({ prices: file }, FAMILIES), {
    message: /^KEYHOOK_PRICES is .*prices\.json/,
  })
  await t.rejects(loadPrices({ prices: `${file}x` }, FAMILIES), ConfigError)
  t.equal((await loadPrices({ prices: undefined }, FAMILIES)).at(0).version, 'default-1')
})
