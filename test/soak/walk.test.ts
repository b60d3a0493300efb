import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { Test } from 'tap'
import { ROOT } from '../arch/source.ts'
import { API_VERSION } from '../../plugins/billing/stripe/client.ts'
import { startFakeStripe } from '../fake-stripe/server.ts'
import { FAKE_MODEL, startFakeModel } from '../support/fake-model.ts'
import { startDaemonProcess } from '../support/daemon.ts'
import { blocksOf, openShell, walk } from '../support/page.ts'
import { IS_SOAK } from '../support/soak.ts'
import { walkPage } from '../support/walk.ts'
import { freePort } from '../support/free-port.ts'

/**
 * A newcomer reads one page after the other, over the same data and with a receiver on the same port:
 * what one page leaves behind must not be in the way of the next.
 */
const folder = t.testdir({ data: {} })
const data = join(folder, 'data')
const receiver = { 9000: await freePort() }

await t.test('every command of docs/start.md does what the page says', async (t) => {
  await walkPage(t, 'start.md', data, { ...receiver, 'npx keyhook': 'npx keyhook' })
})

async function walkAsShop(t: Test): Promise<void> {
  const page = readFileSync(join(ROOT, 'docs/start.md'), 'utf8')
  const change = "process.env.SECRET, { signatureHeader: 'Shop-Signature' })"
  t.match(page, change)
  await walkPage(
    t,
    'start.md',
    join(folder, 'shop'),
    { 9000: await freePort(), 'process.env.SECRET)': change },
    { KEYHOOK_BRAND: 'shop' },
  )
}

const asShop = 'the receiver of docs/start.md verifies another brand as the page says'
if (IS_SOAK) await t.test(asShop, walkAsShop)

await t.test(
  'a backend has made an account for a customer, as other-languages.md does',
  async (t) => {
    const command = ['dist/daemon/main.js', 'account', 'create', '--id', 'acct_1', '--name', 'Acme']
    const env = { PATH: process.env['PATH'], KEYHOOK_DATA_DIR: data }
    const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: ROOT, env })
    t.match(stdout, 'acct_1')
  },
)

const RETURNS = 'A purchase may be returned within forty days, with its receipt.'

/** What the fake says to the prompts of docs/apps.md, in their order. */
const ANSWERS = [
  'SUMMARY: Adds the opening hours.\n\nFILE hours.html\n```\n<!doctype html><title>Hours</title><h1>9 to 6</h1>\n```\n',
  'SUMMARY: Says how returns work.\n\nFILE returns.html\n```\n<!doctype html><title>Returns</title><p>Forty days.</p>\n```\n',
]

await t.test('every command of docs/apps.md does what the page says', async (t) => {
  const at = (name: string): string => join(folder, name)
  const model = await startFakeModel()
  t.teardown(() => model.close())
  model.queue(...ANSWERS.map((text) => ({ text })))

  await walkPage(t, 'apps.md', data, {
    ...receiver,
    'http://127.0.0.1:11434/v1': model.url,
    'qwen3-coder': FAKE_MODEL,
    '@handbook.md': `@${at('handbook.md')}`,
    '@prices.csv': `@${at('prices.csv')}`,
    '> handbook.md': `> ${at('handbook.md')}`,
    '> prices.csv': `> ${at('prices.csv')}`,
  })

  const asked = model.requests.map(({ messages }) => JSON.stringify(messages))
  t.equal(asked.length, ANSWERS.length)
  t.notMatch(asked[0], RETURNS, 'before it was known')
  t.match(asked[1], RETURNS, 'the passage reaches the model')
})

await t.test('every command of docs/agents.md does what the page says', async (t) => {
  const at = join(folder, 'sub-agent.json')
  await walkPage(t, 'agents.md', join(folder, 'agents'), { ...receiver, 'sub-agent.json': at })
})

async function walkOutbox(t: Test): Promise<void> {
  const shop = join(folder, 'shop.sqlite')
  const [table] = blocksOf('outbox.md', { 'shop.sqlite': shop }).filter(
    ({ kind }) => kind === 'sh table',
  )
  await promisify(execFile)('sh', ['-ec', table?.text ?? 'exit 1'], { cwd: ROOT })
  await walkPage(t, 'outbox.md', join(folder, 'outbox'), { 'shop.sqlite': shop })
}

const inserted = 'every command of the first run of docs/outbox.md does what the page says'
if (IS_SOAK) await t.test(inserted, walkOutbox)

async function walkPublish(t: Test): Promise<void> {
  const sites = await freePort()
  await walkPage(t, 'publish.md', data, { ...receiver, 8421: sites })
}

const published = 'every command of docs/publish.md does what the page says'
if (IS_SOAK) await t.test(published, walkPublish)

await t.test('every command of docs/billing.md does what the page says', async (t) => {
  const port = await freePort()
  const webhook = `http://127.0.0.1:${port}/hooks/billing/stripe`
  const fake = await startFakeStripe({ version: API_VERSION, webhook })
  t.teardown(() => fake.close())

  const away = { 'http://127.0.0.1:12111': fake.url }
  // From an empty folder: accounts of other pages have all features.
  await walkPage(t, 'billing.md', join(folder, 'billing'), away, { KEYHOOK_PORT: String(port) })

  const statuses = fake.outbox.attempts.map(({ status }) => status)
  t.ok(statuses.length > 0 && statuses.every((status) => status === 200), 'each event was taken')
})

await t.test('every command of "Back up and restore" does what docs/operate.md says', async (t) => {
  const place = join(folder, 'operate')
  const srv = { '/srv/': `${place}/srv/`, 'npx keyhook': 'node dist/daemon/main.js' }
  const blocks = blocksOf('operate.md', srv)
    .filter(({ kind }) => kind.endsWith(' backup'))
    .map(({ kind, text }) => ({ kind: kind.replace(' backup', ''), text }))
  mkdirSync(join(place, 'srv'), { recursive: true })
  const env = { PATH: process.env['PATH'] ?? '', KEYHOOK_DATA_DIR: join(place, 'data') }
  const daemon = await startDaemonProcess(env)
  const shell = openShell(ROOT, env)
  t.teardown(async () => {
    await shell.close()
    await daemon.end('SIGTERM')
  })
  await walk(t, blocks, shell)
})
