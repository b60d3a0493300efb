import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { appBytesCases } from '../../plugins/apps/conformance.ts'
import { destinationCases } from '../../plugins/destinations/conformance.ts'
import type { DaemonProcess, Env } from '../support/daemon.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import type { FakeS3 } from '../support/fake-s3.ts'
import { startFakeS3 } from '../support/fake-s3.ts'
import { formOf } from '../support/knowledge.ts'
import { packKeyhook } from '../support/packed.ts'
import { blocksOf } from '../support/page.ts'

t.setTimeout(5 * MINUTE)

const TOKEN = 'operator-token-of-a-plugin-test-01'
const MODEL_TOKEN = 'token-of-the-letters'

const packed = await packKeyhook()
t.teardown(() => packed.remove())
// Beside it, since a daemon that starts after a kill looks there for what its dependency needs.
const folder = await packed.install(['@modelcontextprotocol/core', '@aws-sdk/client-s3'])
for (const { kind, text } of blocksOf('object-storage.md')) {
  const [, name] = kind.split(' ')
  if (name !== undefined) await writeFile(join(folder, name), text)
}
for (const { kind, text } of blocksOf('destinations.md')) {
  const [, name] = kind.split(' ')
  if (name !== undefined) await writeFile(join(folder, name), text)
}
const editor = blocksOf('plugins.md').find(({ kind }) => kind === 'js editor.mjs')

function start(data: string, env: Env): Promise<DaemonProcess> {
  const settings = { KEYHOOK_DATA_DIR: data, KEYHOOK_OPERATOR_TOKEN: TOKEN, ...env }
  return startDaemonProcess(settings, join(folder, 'node_modules', 'keyhook'))
}

interface Failed {
  readonly error: { readonly code: string }
}

/** Calls the API as the operator, for an account. */
function officeOf({ url }: DaemonProcess, account = '') {
  const headers = { authorization: `Bearer ${TOKEN}`, 'keyhook-account': account }
  async function send<Body>(path: string, init: RequestInit = {}): Promise<Body> {
    const given = { ...headers, ...(init.headers as Record<string, string> | undefined) }
    return (await (await fetch(url + path, { ...init, headers: given })).json()) as Body
  }
  return {
    send,
    post: <Body>(path: string, body: object) =>
      send<Body>(path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    upload: (app: string, text: string) =>
      send<{ data: readonly { readonly id: string }[] }>(`/v1/apps/${app}/files`, {
        method: 'POST',
        body: formOf([['letter.txt', text]]),
      }),
    content: async (app: string, id: string) =>
      (await fetch(`${url}/v1/apps/${app}/files/${id}/content`, { headers })).text(),
  }
}

/** Where in an upload the daemon is killed. */
const STEPS = ['PUT part 1', 'PUT part 3', 'POST upload', 'PUT copy', 'DELETE']

await t.test('apps in object storage pass the published suite', async (t) => {
  const storage = await startFakeS3()
  t.teardown(() => storage.close())
  const env = { PATH: process.env['PATH'], ...storage.env }
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['s3-suite.mjs'], { cwd: folder, env })
  t.match(stdout, /left: \[\]/)
  t.match(stdout, new RegExp(`# pass ${appBytesCases.length}\n`))
  t.match(stdout, /# fail 0/)
  t.equal(storage.unfinished(), 0)
})

await t.test('apps in a bucket outlive kills in the middle of an upload', async (t) => {
  const bucket: FakeS3 = await startFakeS3()
  t.teardown(() => bucket.close())
  const data = t.testdir()
  const env = { ...bucket.env, KEYHOOK_APPS_PLUGIN: join(folder, 's3.mjs') }
  let daemon = await start(data, env)
  t.teardown(() => daemon.end('SIGKILL').then(() => undefined))
  const { id: account } = await officeOf(daemon).post<{ id: string }>('/v1/accounts', { name: 'S' })
  const { id: app } = await officeOf(daemon, account).post<{ id: string }>('/v1/apps', {
    template_id: 'blank',
  })
  const ownKeys = (): readonly string[] => [...bucket.objects.keys()].filter(isOf(app))
  t.ok(ownKeys().length > 0, 'the files of the app are in the bucket')

  for (const [at, step] of STEPS.entries()) {
    const text = `Letter ${at}. ${'A pelican flew by. '.repeat(50_000)}`
    const before = ownKeys().length
    const reached = bucket.hold(step)
    const uploading = officeOf(daemon, account)
      .upload(app, text)
      .catch(() => undefined)
    await reached
    await daemon.end('SIGKILL')
    await uploading
    const isCopied = step === 'DELETE'
    t.equal(ownKeys().length, before + Number(isCopied), `${step}: whole or not at all`)
    daemon = await start(data, env)
    const office = officeOf(daemon, account)
    const listed = await office.send<{ data: readonly object[] }>(`/v1/apps/${app}/files`)
    t.equal(listed.data.length, at, `${step}: no file is listed that was not uploaded`)
    const again = await office.upload(app, text)
    t.equal(again.data.length, 1, `${step}: it can be uploaded again`)
    t.equal(await office.content(app, again.data[0]?.id ?? ''), text, `${step}: whole`)
  }
  t.match(daemon.output(), /"plugin":"s3".*s3\.opened/)
  t.notMatch(daemon.output(), /secret-of-a-fake-storage/)
  t.equal(await daemon.end('SIGTERM'), 0)

  await t.test('doctor says what it needs', async (t) => {
    const run = promisify(execFile)
    const main = join(folder, 'node_modules/keyhook/dist/daemon/main.js')
    const settings = { PATH: process.env['PATH'], KEYHOOK_DATA_DIR: data, ...env }
    const { stdout } = await run(process.execPath, [main, 'doctor'], { env: settings })
    t.match(stdout, /plugin of apps +s3, which reaches the origins of its options/)
    t.match(stdout, /S3_ENDPOINT is http:\/\/127\.0\.0\.1:\d+; .*S3_SECRET_ACCESS_KEY is given/)
    t.notMatch(stdout, /secret-of-a-fake-storage/)
  })
})

function isOf(app: string): (key: string) => boolean {
  return (key) => key.startsWith(`apps/${app}/`)
}

/** A language model that answers letters: no protocol that Keyhook knows. */
async function startLetters() {
  const letters: unknown[] = []
  const server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const letter = JSON.parse(Buffer.concat(chunks as Buffer[]).toString()) as { text: string }
      const isRight = request.headers['x-letters-token'] === MODEL_TOKEN
      letters.push({ method: request.method, url: request.url, isRight, ...letter })
      const reply = `<!doctype html><h1>${letter.text}</h1>`
      const count = { input_tokens: 3, output_tokens: 5 }
      response.end(JSON.stringify({ reply, count }))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { letters, url: `http://127.0.0.1:${port}`, close: () => void server.close() }
}

await t.test('an editor of the plugins folder speaks a protocol of its own', async (t) => {
  const model = await startLetters()
  t.teardown(() => model.close())
  // No package is found from here: not the one that the daemon is of, and not this repository.
  const data = await mkdtemp(join(tmpdir(), 'keyhook-data-'))
  t.teardown(() => rm(data, { recursive: true }))
  await mkdir(join(data, 'plugins'))
  await writeFile(join(data, 'plugins', 'edits-letters.mjs'), editor?.text ?? '')
  const env = { LETTERS_URL: model.url, LETTERS_TOKEN: MODEL_TOKEN }
  const daemon = await start(data, env)
  t.teardown(() => daemon.end('SIGKILL').then(() => undefined))
  const { id: account } = await officeOf(daemon).post<{ id: string }>('/v1/accounts', { name: 'S' })
  const { post, send } = officeOf(daemon, account)
  const { id: app } = await post<{ id: string }>('/v1/apps', { template_id: 'blank' })
  const edit = await post<{ id: string }>(`/v1/apps/${app}/edits`, { prompt: 'Say hello' })
  let ended: { status: string; model?: string } & Partial<Failed> = { status: '' }
  await until('the edit has ended', async () => {
    ended = await send(`/v1/apps/${app}/edits/${edit.id}`)
    return !['queued', 'running', 'waiting'].includes(ended.status)
  })
  t.equal(ended.status, 'completed', JSON.stringify(ended))
  t.strictSame(model.letters, [
    { method: 'PUT', url: '/letters', isRight: true, to: 'letters-1', text: 'Say hello' },
  ])
  t.equal(await daemon.end('SIGTERM'), 0)
})

await t.test('a destination of a plugin passes the published suite', async (t) => {
  const env = { PATH: process.env['PATH'] }
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['folder-suite.mjs'], { cwd: folder, env })
  const left = Number(/left: (\d+)/.exec(stdout)?.[1])
  t.equal(left, 3, 'it has no server, and does not hang')
  t.match(stdout, new RegExp(`# pass ${destinationCases.length - left}\n`))
  t.match(stdout, /# fail 0/)
})

interface Readable {
  readEntry(entry: { headers: string; body: Buffer }, secret: string): Promise<{ id: string }>
}

await t.test(
  'a webhook sends to the folder of a plugin, and its consumer verifies it',
  async (t) => {
    const data = await mkdtemp(join(tmpdir(), 'keyhook-data-'))
    t.teardown(() => rm(data, { recursive: true }))
    await mkdir(join(data, 'plugins'))
    const own = join(data, 'plugins', 'destinations-folder.mjs')
    await copyFile(join(folder, 'destinations-folder.mjs'), own)
    const inbox = join(data, 'inbox')
    const env = { FOLDER_ROOT: inbox, FOLDER_NAMES: 'orders', KEYHOOK_EVENT_TYPES: 'order.paid' }
    const daemon = await start(data, env)
    t.teardown(() => daemon.end('SIGKILL').then(() => undefined))
    const { id: account } = await officeOf(daemon).post<{ id: string }>('/v1/accounts', {
      name: 'S',
    })
    const { post, send } = officeOf(daemon, account)
    const events = ['order.paid']
    const refused = await post<Failed>('/v1/webhooks', { url: 'folder:invoices', events })
    t.equal(refused.error.code, 'unknown_destination')
    const webhook = await post<{ id: string; type: string; secret: string }>('/v1/webhooks', {
      url: 'folder:orders',
      events,
    })
    t.equal(webhook.type, 'folder')
    const { id: event } = await post<{ id: string }>('/v1/events', {
      type: 'order.paid',
      data: { total: 'größer' },
    })
    let ended: { readonly id: string; readonly status: string } | undefined
    await until('it was delivered', async () => {
      const page = await send<{ data: readonly { id: string; status: string }[] }>(
        `/v1/webhooks/${webhook.id}/deliveries`,
      )
      ended = page.data[0]
      return ended?.status === 'succeeded'
    })
    const path = join(inbox, 'orders', `${ended?.id}.json`)
    const envelope = await readFile(path.replace('.json', '.headers.json'), 'utf8')
    const headers = JSON.stringify((JSON.parse(envelope) as { headers: object }).headers)
    const consumer = (await import(join(folder, 'consume.mjs'))) as Readable
    const entry = { headers, body: await readFile(path) }
    t.match(await consumer.readEntry(entry, webhook.secret), { id: event })
    await t.rejects(consumer.readEntry(entry, webhook.secret.replace('whsec_', 'whsec_x')))
    t.equal(await daemon.end('SIGTERM'), 0)
  },
)
