import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import type { MemoryTill } from '../../plugins/billing/memory.ts'
import { filesCases } from '../../plugins/files/conformance.ts'
import { ROOT } from '../arch/source.ts'
import type { DaemonProcess } from '../support/daemon.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import { packKeyhook } from '../support/packed.ts'
import { blocksOf, openShell, walk } from '../support/page.ts'
import { formOf } from '../support/knowledge.ts'

t.setTimeout(5 * MINUTE)

const TOKEN = 'operator-token-of-a-stranger-test'
const SOURCES = join(ROOT, 'test/support/stranger')
const PAGE = blocksOf('plugins.md')

const packed = await packKeyhook()
t.teardown(() => packed.remove())
const folder = await packed.install([])
await installPlugin(folder, 'text-files', 'index.mjs', onPage('index.mjs'))
await installPlugin(folder, 'careless-files', 'careless.mjs', await source('careless.mjs'))
await installPlugin(folder, 'paddle', 'paddle.mjs', onPage('paddle.mjs'))
await writeFile(join(folder, 'suite.mjs'), onPage('suite.mjs'))
await writeFile(join(folder, 'paddle-suite.mjs'), onPage('paddle-suite.mjs'))
await writeFile(join(folder, 'fake-paddle.mjs'), await source('fake-paddle.mjs'))

/** A file as docs/plugins.md has it. */
function onPage(name: string): string {
  const block = PAGE.find(({ kind }) => kind === `js ${name}`)
  if (block === undefined) throw new Error(`docs/plugins.md has no ${name}`)
  return block.text
}

function source(name: string): Promise<string> {
  return readFile(join(SOURCES, name), 'utf8')
}

/** A package of one module, beside the published one. */
async function installPlugin(
  home: string,
  name: string,
  module: string,
  text: string,
): Promise<void> {
  const place = join(home, 'node_modules', name)
  await mkdir(place)
  await writeFile(join(place, module), text)
  const manifest = { name, version: '1.0.0', type: 'module', exports: `./${module}` }
  await writeFile(join(place, 'package.json'), JSON.stringify(manifest))
}

interface SuiteResult {
  /** Cases that ask for what it does not claim. */
  readonly left: readonly string[]
  readonly results: Readonly<Record<string, string>>
}

/** Runs the suite of the published package in the stranger's own folder. */
async function runSuite(plugin: string): Promise<SuiteResult> {
  await writeFile(join(folder, 'report.mjs'), await source('report.mjs'))
  const run = promisify(execFile)(process.execPath, ['report.mjs', plugin], { cwd: folder })
  return JSON.parse((await run).stdout) as SuiteResult
}

await t.test('the commands of the page print what it says', async (t) => {
  const shell = openShell(folder, process.env)
  t.teardown(() => shell.close())
  const isRun = (kind: string): boolean => kind === 'sh' || kind === 'text'
  // Some start a daemon, as the last tests do.
  const blocks = PAGE.filter(({ kind, text }) => isRun(kind) && !text.includes('keyhook serve'))
  await walk(t, blocks, shell)
})

await t.test('a stranger’s file processor passes the published suite', async (t) => {
  const { left, results } = await runSuite('text-files')
  const asked = filesCases.filter(({ requires }) => requires === undefined)
  t.same(
    Object.keys(results),
    asked.map(({ name }) => name),
  )
  t.same(
    Object.entries(results).filter(([, result]) => result !== 'passed'),
    [],
  )
  t.equal(left.length, filesCases.length - asked.length, 'only what it does not claim is left')
})

await t.test('one that breaks a promise does not pass it', async (t) => {
  const { results } = await runSuite('careless-files')
  t.not(results['take: the processor waits until a batch is taken'], 'passed')
})

async function openOffice(daemon: DaemonProcess) {
  const bearer = { authorization: `Bearer ${TOKEN}` }
  async function send<Body>(path: string, init: RequestInit): Promise<Body> {
    return (await (await fetch(daemon.url + path, init)).json()) as Body
  }
  const post = <Body>(path: string, headers: Readonly<Record<string, string>>, body: unknown) =>
    send<Body>(path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const account = await post<{ id: string }>('/v1/accounts', bearer, { name: 'Stranger' })
  const headers = { ...bearer, 'keyhook-account': account.id }
  const { id } = await post<{ id: string }>('/v1/apps', headers, { template_id: 'blank' })
  const files = `/v1/apps/${id}/files`
  return {
    get: <Body>(path: string) => send<Body>(files + path, { headers }),
    post: <Body>(path: string, body: unknown) => post<Body>(files + path, headers, body),
    upload: <Body>(name: string, text: string) =>
      send<Body>(files, { method: 'POST', headers, body: formOf([[name, text]]) }),
  }
}

interface ShownFile {
  readonly id: string
  readonly status: string
  readonly content_type: string
  readonly error: { readonly code: string } | null
}

await t.test('named by its package, it reads the files of the packed daemon', async (t) => {
  const env = {
    KEYHOOK_DATA_DIR: join(folder, 'data'),
    KEYHOOK_OPERATOR_TOKEN: TOKEN,
    KEYHOOK_FILES_PLUGIN: 'text-files',
  }
  const daemon = await startDaemonProcess(env, join(folder, 'node_modules', 'keyhook'))
  t.teardown(() => daemon.end('SIGKILL').then(() => undefined))
  const { get, post, upload } = await openOffice(daemon)

  async function processed(name: string, text: string): Promise<ShownFile> {
    const { data } = await upload<{ data: readonly ShownFile[] }>(name, text)
    let file = data[0]
    if (file === undefined) throw new Error(`${name} was not taken`)
    const { id } = file
    await until(`${name} has ended`, async () => {
      file = await get<ShownFile>(`/${id}`)
      return file.status === 'processed' || file.status === 'failed'
    })
    return file
  }

  t.match(await processed('letter.txt', 'A pelican flew by. '.repeat(500)), {
    status: 'processed',
    content_type: 'application/x-subrip',
  })
  const found = await post<{ data: readonly object[] }>('/search', { query: 'pelican', limit: 50 })
  t.ok(found.data.length > 1)
  t.match(found.data[0], { name: 'letter.txt', heading: null })
  t.match(await processed('blank.txt', ' \n '), { status: 'failed', error: { code: 'no_text' } })
  t.match(await processed('notes.md', '# Birds\n\nA heron stood there.'), {
    status: 'processed',
    content_type: 'text/markdown',
  })
  t.match(await upload('picture.bin', 'a\0b'), {
    error: {
      code: 'unsupported_media_type',
      message: /^Files of this type cannot be read here\. Send subtitles, pdf, .*, json or text\.$/,
    },
  })
  t.equal(await daemon.end('SIGTERM'), 0)
})

interface FakePaddle {
  readonly settings: Readonly<Record<string, string>>
  readonly till: MemoryTill
  close(): Promise<void>
}

interface Selling {
  readonly checkout_url: string
  readonly error?: { readonly code: string }
}

async function sellCredit(t: Test, named: string): Promise<void> {
  const { startFakePaddle } = (await import(
    pathToFileURL(join(folder, 'fake-paddle.mjs')).href
  )) as { startFakePaddle(): Promise<FakePaddle> }
  const fake = await startFakePaddle()
  t.teardown(() => fake.close())
  const env = {
    KEYHOOK_DATA_DIR: t.testdir(),
    KEYHOOK_OPERATOR_TOKEN: TOKEN,
    KEYHOOK_BILLING: named,
    ...fake.settings,
  }
  const daemon = await startDaemonProcess(env, join(folder, 'node_modules', 'keyhook'))
  t.teardown(() => daemon.end('SIGKILL').then(() => undefined))
  const bearer = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  async function ask<Body>(path: string, headers: object, body?: object): Promise<Body> {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const answer = await fetch(daemon.url + path, { ...sent, headers: { ...bearer, ...headers } })
    return (await answer.json()) as Body
  }
  const account = await ask<{ id: string }>('/v1/accounts', {}, { name: 'Stranger' })
  const of = { 'keyhook-account': account.id }
  const asked = { ...of, 'idempotency-key': 'order-1' }
  const topup = await ask<Selling>('/v1/billing/topup', asked, { amount: '10.00' })
  t.match(topup, { status: 'open', checkout_url: /^https:/ })
  await fake.till.pay(topup.checkout_url.split('/').at(-1) ?? '')

  async function send(body: Uint8Array, headers: Readonly<Record<string, string>>) {
    const answer = await fetch(`${daemon.url}/hooks/billing/paddle`, {
      method: 'POST',
      headers,
      body: Buffer.from(body),
    })
    return { status: answer.status, body: (await answer.json()) as Selling }
  }
  const events = await fake.till.take({ copies: 2 })
  const [{ body } = { body: new Uint8Array() }] = events
  const forged = fake.till.forge(body, Date.now())
  t.match(await send(forged.body, forged.headers), {
    status: 400,
    body: { error: { code: 'invalid_signature' } },
  })
  for (const one of events) t.equal((await send(one.body, one.headers)).status, 200)
  const wallet = () => ask<{ balance: string }>('/v1/billing/wallet', of)
  await until('the credit is there', async () => (await wallet()).balance !== '0.00')
  t.match(await wallet(), { mode: 'paddle', balance: '10.00', plan: 'free' })
  const pages = await ask<{ data: readonly object[] }>('/v1/billing/ledger', of)
  t.equal(pages.data.length, 1, 'once')
  t.equal(await daemon.end('SIGTERM'), 0)
}

await t.test('a payment processor that is a package sells credit', async (t) => {
  await sellCredit(t, 'paddle')
})

await t.test('one that is named by its path, with a keyhook of its own, does too', async (t) => {
  const elsewhere = await packed.install([])
  await installPlugin(elsewhere, 'paddle', 'paddle.mjs', onPage('paddle.mjs'))
  await sellCredit(t, join(elsewhere, 'node_modules', 'paddle', 'paddle.mjs'))
})
