import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { destinationCases } from '../../plugins/destinations/conformance.ts'
import type { Env } from '../support/daemon.ts'
import { until } from '../support/daemon.ts'
import { officeOf, startPacked } from '../support/office.ts'
import { packKeyhook } from '../support/packed.ts'
import { blocksOf } from '../support/page.ts'

t.setTimeout(5 * MINUTE)

const MODEL_TOKEN = 'token-of-the-letters'

const packed = await packKeyhook()
t.teardown(() => packed.remove())
const folder = await packed.install([])
for (const { kind, text } of blocksOf('destinations.md')) {
  const [, name] = kind.split(' ')
  if (name !== undefined) await writeFile(join(folder, name), text)
}
const editor = blocksOf('plugins.md').find(({ kind }) => kind === 'js editor.mjs')

interface Failed {
  readonly error: { readonly code: string }
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

/** Where the editor may be: no package is found from either, not the one that the daemon is of, nor this repository. */
const PLACES: Readonly<Record<string, (text: string, data: string) => Promise<Env>>> = {
  async 'the plugins folder'(text, data) {
    await mkdir(join(data, 'plugins'))
    await writeFile(join(data, 'plugins', 'edits-letters.mjs'), text)
    return {}
  },
  async 'a linked package'(text, data) {
    const own = join(data, 'letters')
    await mkdir(own)
    await writeFile(join(own, 'editor.mjs'), text)
    const manifest = { name: 'letters', type: 'module', exports: './editor.mjs' }
    await writeFile(join(own, 'package.json'), JSON.stringify(manifest))
    // As `npm link` does.
    await symlink(own, join(folder, 'node_modules', 'letters'))
    return { KEYHOOK_EDITS_PLUGIN: 'letters' }
  },
}

for (const [place, put] of Object.entries(PLACES)) {
  await t.test(`an editor of ${place} speaks a protocol of its own`, async (t) => {
    const model = await startLetters()
    t.teardown(() => model.close())
    const data = await mkdtemp(join(tmpdir(), 'keyhook-data-'))
    t.teardown(() => rm(data, { recursive: true }))
    const where = await put(editor?.text ?? '', data)
    const env = { ...where, LETTERS_URL: model.url, LETTERS_TOKEN: MODEL_TOKEN }
    const daemon = await startPacked(folder, data, env)
    t.teardown(() => daemon.end('SIGKILL').then(() => undefined))
    const { id: account } = await officeOf(daemon).post<{ id: string }>('/v1/accounts', {
      name: 'S',
    })
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
}

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
    const daemon = await startPacked(folder, data, env)
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
