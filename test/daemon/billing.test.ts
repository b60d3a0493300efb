import t from 'tap'
import { ConfigError, readConfig } from '../../daemon/config/config.ts'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import { createFileHandler } from '../../daemon/families/files/process.ts'
import { filesFamily } from '../../daemon/families/files/family.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import { runJobs } from '../../daemon/jobs/run-jobs.ts'
import { jobTimes } from '../../daemon/jobs/runner.ts'
import { HOUR } from '../../lib/time.ts'
import { createMemoryWallet } from '../../plugins/billing/memory.ts'
import { EditError } from '../../plugins/edits/contract.ts'
import { createMemoryEditor } from '../../plugins/edits/memory.ts'
import { fileError } from '../../plugins/files/contract.ts'
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
/** A prompt that its editor cannot carry out. */
const BAD = 'bad'

/** A world in which work costs something, with an app and a worker of each kind. */
async function openWorld(t: Scope, options: WorldOptions = {}) {
  const billing = createMemoryWallet({ prices: PRICES })
  const editor = createMemoryEditor({
    script(task) {
      if (task.prompt === BAD) throw new EditError('model_refused')
      return operationsOf(task)
    },
  })
  const families = [appsFamily, editsFamily, filesFamily]
  const world = await createWorld(t, { billing, editor, ...options, families })
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
    grant: (micros: number) => billing.grant(world.account.id, micros),
    wallet: () => billing.wallet(world.account.id),
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
    grant(99)
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
    t.same(wallet(), { balance_micros: 99, held_micros: 0 })
    t.same(
      (await eventsOf(world)).map(({ type }) => type),
      ['app.created'],
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
  grant(250)
  const edit = await ask(world, app, 'hello')
  t.equal(edit.status, 202)
  t.same(wallet(), { balance_micros: 250, held_micros: 100 })
  work()
  t.match(await untilEnded(world, edit.body), { status: 'completed' })
  t.same(wallet(), { balance_micros: 150, held_micros: 0 })
  t.same(await charged(), ['edit.completed 100'])
})

await t.test('of two edits that race for the last of the money one is made', async (t) => {
  const world = await openWorld(t)
  const { app, work, grant, wallet, edits } = world
  grant(199)
  const answers = await Promise.all(['one', 'two'].map((prompt) => ask(world, app, prompt)))
  t.same(new Set(answers.map(({ status }) => status)), new Set([202, 402]))
  t.equal(await edits(), 1)
  t.same(wallet(), { balance_micros: 199, held_micros: 100 })
  work()
  const won = answers.find(({ status }) => status === 202)?.body as Edit
  t.match(await untilEnded(world, won), { status: 'completed' })
  t.same(wallet(), { balance_micros: 99, held_micros: 0 })
})

await t.test('an edit that fails, or is canceled, costs nothing', async (t) => {
  const { editor, until: begun } = createHeldEditor()
  const world = await openWorld(t, { editor })
  const { app, request, work, grant, wallet, charged } = world
  grant(300)
  const running = (await ask(world, app, 'running')).body
  const queued = (await ask(world, app, 'queued')).body
  t.same(wallet(), { balance_micros: 300, held_micros: 200 })
  await request('POST', `${at(queued)}/cancel`)
  t.same(wallet(), { balance_micros: 300, held_micros: 100 }, 'one that waits, at once')
  work()
  await begun('running')
  t.match(await request('POST', `${at(running)}/cancel`), { status: 202 })
  t.match(await untilEnded(world, running), { status: 'canceled' })
  t.same(wallet(), { balance_micros: 300, held_micros: 0 })
  await ask(world, app, 'archived')
  await request('DELETE', `/v1/apps/${app}`)
  await until(() => wallet().held_micros === 0)
  t.same(wallet(), { balance_micros: 300, held_micros: 0 })
  t.same(new Set(await charged()), new Set(['edit.failed 0']))

  const other = await openWorld(t)
  other.grant(100)
  other.work()
  t.match(await untilEnded(other, (await ask(other, other.app, BAD)).body), { status: 'failed' })
  t.same(other.wallet(), { balance_micros: 100, held_micros: 0 })
  t.same(await other.charged(), ['edit.failed 0'])
})

await t.test('an app that a prompt makes is paid for as that, once it is made', async (t) => {
  const world = await openWorld(t)
  const { request, work, grant, wallet, charged } = world
  grant(1000)
  const make = async (prompt: string) => {
    const { body } = await request('POST', '/v1/apps', { body: { prompt } })
    return { id: String(body['edit_id']), app_id: body['id'], status: '', result_revision: null }
  }
  const failed = await make(BAD)
  t.same(wallet(), { balance_micros: 1000, held_micros: 500 })
  work()
  t.match(await untilEnded(world, failed), { status: 'failed' })
  t.same(wallet(), { balance_micros: 1000, held_micros: 0 })
  t.match(await untilEnded(world, await make('A shop')), { status: 'completed' })
  t.same(wallet(), { balance_micros: 500, held_micros: 0 })
  t.same(await charged(), ['edit.failed 0', 'edit.completed 500'])
})

await t.test('a replay by its Idempotency-Key holds once', async (t) => {
  const world = await openWorld(t)
  const { app, request, work, grant, wallet, edits } = world
  grant(150)
  const asking = { body: { prompt: 'hello' }, headers: { 'idempotency-key': 'one' } }
  const path = `/v1/apps/${app}/edits`
  const [first, twin] = await Promise.all([
    request<Edit>('POST', path, asking),
    request<Edit>('POST', path, asking),
  ])
  t.match([first.status, twin.status], [202, 202])
  t.equal(first.body.id, twin.body.id)
  t.same(wallet(), { balance_micros: 150, held_micros: 100 })
  work()
  await untilEnded(world, first.body)
  t.match(await request('POST', path, asking), { status: 202, body: { id: first.body.id } })
  t.same(wallet(), { balance_micros: 50, held_micros: 0 })
  t.equal(await edits(), 1)
})

await t.test('a file is paid for by its bytes, once it is processed', async (t) => {
  const fails = new Set([2])
  const { processor } = scripted((call) => {
    if (fails.has(call)) throw fileError('damaged')
  })
  const world = await openWorld(t, { fileProcessor: processor })
  const { app, request, work, grant, wallet, upload, fileEnded } = world
  grant(100)
  const text = 'x'.repeat(20)
  const sent = await upload([['a.md', text]])
  t.same(wallet(), { balance_micros: 100, held_micros: 40 })
  const again = await upload([['b.md', text]])
  t.equal(again.body.data[0]?.['id'], sent.body.data[0]?.['id'])
  t.same(wallet(), { balance_micros: 100, held_micros: 40 }, 'the same bytes are one file')
  work()
  t.equal(await fileEnded(String(sent.body.data[0]?.['id'])), 'processed')
  t.same(wallet(), { balance_micros: 60, held_micros: 0 })

  const { body } = await upload([['c.md', 'y'.repeat(25)]])
  const id = String(body.data[0]?.['id'])
  t.equal(await fileEnded(id), 'failed')
  t.same(wallet(), { balance_micros: 60, held_micros: 0 })
  const retry = () => request('POST', `/v1/apps/${app}/files/${id}/retry`)
  grant(50)
  const edit = await ask(world, app, 'hello')
  t.equal(edit.status, 202)
  t.match(await retry(), refused('files.upload', 50, 10))
  t.match((await request('GET', `/v1/apps/${app}/files/${id}`)).body, { status: 'failed' })
  await untilEnded(world, edit.body)
  grant(40)
  t.match(await retry(), { status: 202 })
  t.equal(await fileEnded(id), 'processed')
  t.same(wallet(), { balance_micros: 0, held_micros: 0 })
})

await t.test('a file that is deleted before it is processed costs nothing', async (t) => {
  const world = await openWorld(t)
  const { app, request, grant, wallet, upload } = world
  grant(100)
  const { body } = await upload([['a.md', 'x'.repeat(20)]])
  t.same(wallet(), { balance_micros: 100, held_micros: 40 })
  const path = `/v1/apps/${app}/files/${String(body.data[0]?.['id'])}`
  t.match(await request('DELETE', path), { status: 200 })
  t.same(wallet(), { balance_micros: 100, held_micros: 0 })
})

await t.test('billing that does not exist yet is refused at the start', async (t) => {
  t.equal(readConfig({}).billing, 'none')
  t.equal(readConfig({ KEYHOOK_BILLING: 'none' }).billing, 'none')
  for (const KEYHOOK_BILLING of ['internal', 'stripe']) {
    t.throws(
      () => readConfig({ KEYHOOK_BILLING }),
      new ConfigError(
        `KEYHOOK_BILLING is ${KEYHOOK_BILLING}, which this version does not have yet: leave it out, or set it to none`,
      ),
    )
  }
  t.throws(() => readConfig({ KEYHOOK_BILLING: 'free' }), /^KEYHOOK_BILLING must be none/)
})
