import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { collectApps } from '../../daemon/families/apps/collect.ts'
import { HOUR, MINUTE } from '../../lib/time.ts'
import type { AppBytes } from '../../plugins/apps/contract.ts'
import { APP_BYTES, openDatabase } from '../../plugins/registry.ts'
import type { DaemonProcess, Env } from '../support/daemon.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import { docxParts, paragraph, zipOf } from '../support/documents.ts'
import type { FakeModel, FakeTurn } from '../support/fake-model.ts'
import { FAKE_MODEL, startFakeModel } from '../support/fake-model.ts'
import { startPostgres } from '../support/postgres.ts'

t.setTimeout(10 * MINUTE)

const OPERATOR = 'operator-token-of-the-work-crash-test'

/** What the model says to the n-th prompt. */
const answer = (n: number): string =>
  `SUMMARY: Adds page ${n}.\n\nFILE page-${n}.html\n\`\`\`\n<h1>Page ${n}</h1>\n\`\`\`\n`

/** Milliseconds from a request to a kill. */
const MOMENTS = [5, 15, 30, 60, 120, 200]

type Row = Readonly<Record<string, unknown>>

/** A daemon that can be killed and started again, beside one account with one app. */
interface Stage {
  readonly app: string
  ask(method: string, path: string, body?: unknown): Promise<Row>
  upload(name: string, bytes: Uint8Array): Promise<Row>
  /** Kills the daemon, whatever `meanwhile` comes to, starts it again, and lets all work end. */
  killAfter(moment: number | Promise<unknown>, meanwhile: Promise<unknown>): Promise<void>
  /** Ends the daemon as its operator does. */
  stop(): Promise<void>
}

async function setTheStage(t: Test, env: Env): Promise<Stage> {
  let daemon: DaemonProcess = await startDaemonProcess(env)
  t.teardown(() => daemon.end('SIGKILL').then(() => undefined))
  const port = new URL(daemon.url).port
  let headers: Record<string, string> = { authorization: `Bearer ${OPERATOR}` }

  async function send(path: string, init: RequestInit): Promise<Row> {
    const response = await fetch(daemon.url + path, init)
    return (await response.json()) as Row
  }
  const ask: Stage['ask'] = (method, path, body) =>
    send(path, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const account = await ask('POST', '/v1/accounts', { name: 'Crash' })
  headers = { ...headers, 'keyhook-account': String(account['id']) }
  const app = await ask('POST', '/v1/apps', { template_id: 'blank' })
  const stage: Stage = {
    app: String(app['id']),
    ask,
    upload(name, bytes) {
      const body = new FormData()
      body.append('file', new Blob([new Uint8Array(bytes)]), name)
      return send(`/v1/apps/${String(app['id'])}/files`, { method: 'POST', headers, body })
    },
    async killAfter(moment, meanwhile) {
      const settled = meanwhile.catch(() => undefined)
      await (typeof moment === 'number'
        ? new Promise((resolve) => setTimeout(resolve, moment))
        : moment)
      await daemon.end('SIGKILL')
      await settled
      daemon = await startDaemonProcess({ ...env, KEYHOOK_PORT: port })
      await untilOver(stage)
    },
    stop: () => daemon.end('SIGTERM').then(() => undefined),
  }
  return stage
}

async function listAll({ ask }: Stage, path: string): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (let cursor = ''; ;) {
    const page = await ask('GET', `${path}${path.includes('?') ? '&' : '?'}limit=100${cursor}`)
    rows.push(...(page['data'] as Row[]))
    if (page['has_more'] !== true) return rows
    cursor = `&cursor=${String(page['next_cursor'])}`
  }
}

const ENDED: readonly unknown[] = ['completed', 'failed', 'canceled', 'processed']
const TERMINAL: readonly unknown[] = [
  'edit.completed',
  'edit.failed',
  'file.processed',
  'file.failed',
]

function workOf(stage: Stage): Promise<readonly Row[]> {
  const at = `/v1/apps/${stage.app}`
  const both = [listAll(stage, `${at}/edits`), listAll(stage, `${at}/files`)]
  return Promise.all(both).then((lists) => lists.flat())
}

/** Each is killed once: what kills its worker again and again is given up. */
async function untilOver(stage: Stage): Promise<void> {
  const isOver = async (): Promise<boolean> =>
    (await workOf(stage)).every(({ status }) => ENDED.includes(status))
  await until('all of it has ended', isOver, MINUTE)
}

/** Everything ended, told so once, and left whole revisions alone. */
async function requireWhole(t: Test, stage: Stage): Promise<void> {
  const at = `/v1/apps/${stage.app}`
  const done = await workOf(stage)
  const told = (await listAll(stage, '/v1/events'))
    .filter(({ type }) => TERMINAL.includes(type))
    .map(({ type, data }) => {
      const { edit_id, file_id } = data as Row
      return `${String(edit_id ?? file_id)} ${String(type).split('.')[1] ?? ''}`
    })
  const expected = done.map(({ id, status }) => `${String(id)} ${String(status)}`)
  t.same(told.toSorted(), expected.toSorted(), 'each tells of its end once')
  t.notOk(
    done.some(({ status }) => status === 'failed'),
    'and none of them had to fail',
  )

  const completed = done.filter(({ status }) => status === 'completed')
  const { current_revision: revision } = await stage.ask('GET', at)
  t.equal(revision, 1 + completed.length, 'a revision for each edit')
  for (let number = 1; number <= Number(revision); number += 1) {
    const tree = await stage.ask('GET', `${at}/tree?revision=${number}`)
    for (const { path } of tree['files'] as { path: string }[]) {
      const content = await stage.ask('GET', `${at}/content?revision=${number}&path=${path}`)
      if (content['path'] !== path) t.fail(`${path} of revision ${number}`, { content })
    }
  }
  const files = done.filter(({ status }) => status === 'processed')
  const found = await stage.ask('POST', `${at}/files/search`, { query: 'pelican', limit: 50 })
  t.equal((found['data'] as Row[]).length, files.length, 'a passage of each file')
}

async function killThrough(stage: Stage, model: FakeModel): Promise<void> {
  const edits = `/v1/apps/${stage.app}/edits`
  let prompts = 0
  const prompt = (turn: Omit<FakeTurn, 'text'> = {}): Promise<Row> => {
    const text = answer((prompts += 1))
    const marker = model.script({ text, ...turn }, { text })
    return stage.ask('POST', edits, { prompt: `Add a page. ${marker}` })
  }
  for (const moment of MOMENTS) await stage.killAfter(moment, prompt())

  // While the model is asked, and in the middle of what it says.
  const never = new Promise<never>(() => undefined)
  for (const pause of ['before', 'between'] as const) {
    const asked = model.requests.length
    const begun = until('the model is asked', () => model.requests.length > asked)
    const turn = pause === 'before' ? { before: never } : { between: () => never }
    await stage.killAfter(begun, prompt(turn))
  }

  for (const moment of MOMENTS.slice(0, 3)) {
    const { current_revision } = await stage.ask('GET', `/v1/apps/${stage.app}`)
    const operations = [{ op: 'write', path: `by-hand-${moment}.txt`, content: 'By hand' }]
    const given = { operations, base_revision: current_revision }
    await stage.killAfter(moment, stage.ask('POST', edits, given))
  }
  for (const moment of [...MOMENTS.slice(1), 400, 700]) {
    const bytes = zipOf(docxParts(paragraph(`A pelican flies ${moment} miles.`)))
    await stage.killAfter(moment, stage.upload(`pelican-${moment}.docx`, bytes))
  }
}

/** What lies there and is named by nothing, once a round of collection has passed. */
async function orphans(
  store: Awaited<ReturnType<typeof openDatabase>>['store'],
  bytes: AppBytes,
): Promise<readonly string[]> {
  await collectApps(store, bytes, Date.now() + 2 * HOUR)
  const left: string[] = []
  const again = await collectApps(store, bytes, Date.now() + 2 * HOUR)
  if (again.bytes > 0) left.push(`${again.bytes} more`)
  for await (const app of bytes.apps()) {
    if (!(await store.apps.exists(app))) left.push(app)
  }
  return left
}

for (const database of ['sqlite', 'postgres'] as const) {
  await t.test(`killed at any moment, edits and files end well on ${database}`, async (t) => {
    const model = await startFakeModel()
    t.teardown(() => model.close())
    const folder = t.testdir()
    const place: Record<string, string> = {}
    if (database === 'postgres') {
      const server = await startPostgres()
      t.teardown(() => server.stop())
      place['KEYHOOK_DATABASE_URL'] = await server.createDatabase()
      place['KEYHOOK_MASTER_KEY'] = `k1:${randomBytes(32).toString('base64')}`
    }
    const stage = await setTheStage(t, {
      ...place,
      KEYHOOK_DATA_DIR: folder,
      KEYHOOK_OPERATOR_TOKEN: OPERATOR,
      KEYHOOK_LLM_BASE_URL: model.url,
      KEYHOOK_LLM_MODEL: FAKE_MODEL,
      KEYHOOK_WORK_LEASE: '1',
      KEYHOOK_RATE_READS: '0',
      KEYHOOK_RATE_WRITES: '0',
    })
    await killThrough(stage, model)
    await requireWhole(t, stage)
    await stage.stop()

    const opened = await openDatabase(place['KEYHOOK_DATABASE_URL'] ?? join(folder, 'keyhook.db'))
    const clock = { now: Date.now }
    const bytes =
      database === 'postgres'
        ? await APP_BYTES.database({ client: opened.client, clock })
        : await APP_BYTES.disk({ folder: join(folder, 'apps'), clock })
    t.same(await orphans(opened.store, bytes), [], 'no bytes that nothing names')
    await bytes.close()
    await opened.store.close()
  })
}
