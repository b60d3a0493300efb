/**
 * The single executable, which is built once, where nothing is installed but the libraries that it links. Its Node and
 * esbuild come from npm, into a folder of their own: 220 MB.
 */
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { verifyWebhook } from '../../lib/webhook/verify.ts'
import { until } from '../support/daemon.ts'
import { docxParts, paragraph, pdfOf, zipOf } from '../support/documents.ts'
import type { RunningExecutable } from '../support/executable.ts'
import { buildExecutable, makeEmptyRoot } from '../support/executable.ts'
import { isLate } from '../support/late-document.ts'
import { startPostgres } from '../support/postgres.ts'
import type { ReceivedRequest } from '../support/receiver.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'

t.setTimeout(10 * MINUTE)

const executable = join(t.testdir(), 'keyhook')
t.comment(await buildExecutable(executable))
const root = await makeEmptyRoot(executable)
t.teardown(() => root.remove())
await rm(executable)

const OWNER = {
  KEYHOOK_OWNER_EMAIL: 'owner@example.com',
  KEYHOOK_OWNER_PASSWORD: 'a password of this test',
  KEYHOOK_EVENT_TYPES: 'order.paid',
}
const DATA = '/data/one'
const env = { ...OWNER, KEYHOOK_DATA_DIR: DATA }
const SCOPES = 'apps:write,apps:read,files:*,webhooks:*,events:*'

const receiver = await startReceiver(answerWith('HTTP/1.1 204 No Content\r\n\r\n'))
t.teardown(() => receiver.close())
const hooks = `http://127.0.0.1:${receiver.port}/`

let serving: RunningExecutable | undefined
t.teardown(() => serving?.end('SIGKILL').then(() => undefined))

async function serve(settings: Readonly<Record<string, string>> = env): Promise<RunningExecutable> {
  serving = await root.serve(settings)
  return serving
}

/** Prints what a command said where it fails. */
async function run(
  args: readonly string[],
  settings: Readonly<Record<string, string>> = env,
): Promise<string> {
  const { code, out, err } = await root.run(args, settings)
  if (code !== 0) throw new Error(`keyhook ${args.join(' ')}: ${out}${err}`)
  return out.trim()
}

const mintKey = (settings = env): Promise<string> =>
  run(['key', 'create', '--name', 'one', '--scopes', SCOPES, '--raw'], settings)

function clientOf({ url }: RunningExecutable, key: string) {
  const authorization = `Bearer ${key}`
  const call = async <Body>(path: string, init: RequestInit): Promise<Body> => {
    const headers = { authorization, ...(init.headers as Record<string, string> | undefined) }
    const response = await fetch(url + path, { ...init, headers })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Body
  }
  return {
    get: <Body>(path: string) => call<Body>(path, {}),
    post: <Body>(path: string, body: object) =>
      call<Body>(path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    upload: <Body>(path: string, body: FormData) => call<Body>(path, { method: 'POST', body }),
  }
}

/** Verified as a receiver does, of the id of an event. */
async function verified(secret: string, id: string): Promise<object | undefined> {
  const isOfEvent = ({ body }: ReceivedRequest): boolean => body.includes(id)
  await until('the event arrives', () => receiver.requests.some(isOfEvent))
  const { head, body } = receiver.requests.find(isOfEvent) as ReceivedRequest
  const lines = head.split('\r\n').slice(1)
  const headers = lines.filter((line) => line.includes(': ')).map((line) => line.split(': '))
  return verifyWebhook(body, new Headers(headers as [string, string][]), secret)
}

let key = ''
let secret = ''
let webhook = ''

await t.test('it links libc and four libraries beside it', (t) => {
  const names = root.libraries.map((name) => name.replace(/[-.](so|linux).*$/, ''))
  const libc = ['ld', 'libc', 'libdl', 'libm', 'libpthread']
  t.same(
    names.filter((name) => !libc.includes(name)),
    ['libatomic', 'libgcc_s', 'libstdc++'],
  )
  t.end()
})

await t.test('it serves, mints a key by its command, and delivers what is signed', async (t) => {
  const running = await serve()
  key = await mintKey()
  const { get, post } = clientOf(running, key)
  const created = await post<{ id: string; secret: string }>('/v1/webhooks', {
    url: hooks,
    events: ['order.paid'],
  })
  secret = created.secret
  webhook = created.id
  const { id } = await post<{ id: string }>('/v1/events', { type: 'order.paid', data: { n: 1 } })
  t.match(await verified(secret, id), { id, type: 'order.paid', data: { n: 1 } })
  await t.rejects(verified(`whsec_${Buffer.alloc(32).toString('base64')}`, id))
  const templates = await get<{ data: readonly { id: string }[] }>('/v1/templates')
  t.ok(templates.data.length > 2, 'the templates are in it')
  t.equal((await fetch(`${running.url}/docs`)).status, 200, 'and so is the page of the API')
  const vectors = await fetch(`${running.url}/docs/vectors/signature.json`)
  t.match(await vectors.json(), { version: 1 }, 'and the test vectors')
})

await t.test('documents are read by a child that is the executable', async (t) => {
  const { get, post, upload } = clientOf(serving as RunningExecutable, key)
  const { id: app } = await post<{ id: string }>('/v1/apps', { name: 'S', template_id: 'landing' })
  const form = new FormData()
  const docx = zipOf(docxParts(paragraph('Nine to five, né.')))
  for (const [name, bytes] of Object.entries({
    'well.pdf': pdfOf(['The well is forty metres deep.']),
    'hours.docx': docx,
    'towns.csv': Buffer.from('town,people\nUlm,126000\n'),
  })) {
    form.append('file', new Blob([new Uint8Array(bytes)]), name)
  }
  const files = `/v1/apps/${app}/files`
  await upload(files, form)
  type Files = { data: readonly { id: string; name: string; status: string; error: unknown }[] }
  let read: Files['data'] = []
  const retried = new Set<string>()
  await until('all were read', async () => {
    read = (await get<Files>(files)).data
    const late = read.filter((file) => isLate(file) && !retried.has(file.id))
    for (const { id } of late) {
      retried.add(id)
      await post(`${files}/${id}/retry`, {})
    }
    return (
      late.length === 0 &&
      read.every(({ status }) => !['queued', 'processing', 'uploaded'].includes(status))
    )
  })
  t.same(
    read.map(({ name, status }) => `${name} ${status}`).toSorted(),
    ['hours.docx processed', 'towns.csv processed', 'well.pdf processed'],
    JSON.stringify(read),
  )
})

await t.test('it survives kill -9', async (t) => {
  const { post } = clientOf(serving as RunningExecutable, key)
  const { id } = await post<{ id: string }>('/v1/events', { type: 'order.paid', data: { n: 2 } })
  await serving?.end('SIGKILL')
  const again = clientOf(await serve(), key)
  t.match(await again.get(`/v1/events/${id}`), { id }, 'what it acknowledged is there')
  t.match(await verified(secret, id), { id })
  const next = await again.post<{ id: string }>('/v1/events', { type: 'order.paid', data: {} })
  t.match(await verified(secret, next.id), { id: next.id })
})

await t.test('it backs up while it serves, verifies, and restores', async (t) => {
  const made = await run(['backup', 'create', '--to', '/data/backups', '--json'])
  const { folder } = JSON.parse(made) as { folder: string }
  await run(['backup', 'verify', folder])
  await serving?.end('SIGTERM')
  const to = '/data/restored'
  const ran = await root.run(['backup', 'restore', folder, '--to', to], env)
  t.equal(ran.code, 0, ran.out + ran.err)
  const { KEYHOOK_DATA_DIR: _, ...rest } = env
  const keys = await masterKeyOf(DATA)
  const restored = await serve({ ...rest, KEYHOOK_DATA_DIR: to, KEYHOOK_MASTER_KEY: keys })
  const { get } = clientOf(restored, key)
  t.match(await get(`/v1/webhooks/${webhook}`), { id: webhook, url: hooks })
  t.match(await get('/readyz'), { sending: 'paused' })
  await serving?.end('SIGTERM')
})

async function masterKeyOf(folder: string): Promise<string> {
  return (await readFile(join(root.folder, folder, 'master-key'), 'utf8')).trim()
}

const PLUGIN = `
import { definePlugin } from 'keyhook/plugins'
await Promise.resolve()
export const plugin = definePlugin({
  contract: 'destinations', name: 'nowhere', create: () => { throw new Error('it was created') },
})
`

await t.test('it loads a plugin of the data folder, which imports keyhook', async (t) => {
  const plugins = join(root.folder, DATA, 'plugins')
  await mkdir(plugins)
  await writeFile(join(plugins, 'destinations-nowhere.mjs'), PLUGIN)
  const refused = await root.run(['serve', '--dev'], {
    ...env,
    KEYHOOK_PORT: '0',
    KEYHOOK_APPS_PORT: '0',
  })
  t.match(refused.err + refused.out, /cannot be opened: it was created/)
  await rm(plugins, { recursive: true })
})

await t.test('its doctor finds nothing wrong', async (t) => {
  const doctor = await root.run(['doctor'], { ...env, KEYHOOK_PORT: '0', KEYHOOK_APPS_PORT: '0' })
  t.equal(doctor.code, 0, doctor.out + doctor.err)
  t.notMatch(doctor.out, /FAILED/)
})

/** The socket of a server of this machine, under the same path in the root. */
async function offerSocket(url: string): Promise<void> {
  const folder = new URL(url).searchParams.get('host')
  if (folder === null) return
  await mkdir(join(root.folder, folder), { recursive: true })
  const socket = join(folder, '.s.PGSQL.5432')
  await link(socket, join(root.folder, socket))
}

await t.test('it serves and delivers over PostgreSQL', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  const url = await server.createDatabase()
  await offerSocket(url)
  const settings = {
    ...OWNER,
    KEYHOOK_DATA_DIR: '/data/postgres',
    KEYHOOK_DATABASE_URL: url,
    KEYHOOK_MASTER_KEY: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
  }
  const running = await serve(settings)
  const { post } = clientOf(running, await mintKey(settings))
  const created = await post<{ secret: string }>('/v1/webhooks', {
    url: hooks,
    events: ['order.paid'],
  })
  const { id } = await post<{ id: string }>('/v1/events', { type: 'order.paid', data: { n: 3 } })
  t.match(await verified(created.secret, id), { id, data: { n: 3 } })
  t.equal(await running.end('SIGTERM'), 0)
})
