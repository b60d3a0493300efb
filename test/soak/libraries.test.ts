import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import t from 'tap'
import { createKeyhook } from '../../daemon/embed/index.ts'
import { LIBRARIES } from '../support/libraries.ts'
import type { Backend } from '../support/outbox.ts'
import { postgresBackend, sqliteBackend } from '../support/outbox.ts'
import { startPostgres } from '../support/postgres.ts'
import { sized } from '../support/soak.ts'

const WRITER = fileURLToPath(new URL('../support/library-writer.js', import.meta.url))

/** Processes of each library; all are killed. */
const ROUNDS = sized(1, 2, 50)
/** Transactions of each, half of them rolled back: in the long form 200 of both. */
const EACH = sized(8, 20, 12)

const postgres = await startPostgres()
t.teardown(() => postgres.stop())

for (const [name, { dialect }] of Object.entries(LIBRARIES)) {
  await t.test(`${name}: the events are those of the committed transactions`, async (t) => {
    const folder = t.testdir()
    const backend: Backend =
      dialect === 'sqlite'
        ? sqliteBackend(folder)
        : postgresBackend(await postgres.createDatabase())
    const location = dialect === 'sqlite' ? join(folder, 'shop.sqlite') : backend.url
    const session = await backend.connect()
    t.teardown(() => session.close())
    await session.run('CREATE TABLE orders (number TEXT PRIMARY KEY)')
    for (let round = 0; round < ROUNDS; round += 1) {
      await dieWriting(name, location, round * (EACH + 1), round % 4 === 3)
    }
    const keyhook = await createKeyhook({
      database: location,
      masterKey: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
      logLevel: 'silent',
    })
    t.teardown(() => keyhook.stop())
    const rows = await session.rows('SELECT number FROM orders')
    const numbers = rows.map((row) => String(row['number'])).sort()
    t.strictSame(await publishedIn(keyhook.as('acct_1').events), numbers)
    t.ok(numbers.length >= (ROUNDS * EACH) / 4, `${numbers.length} events`)
    t.comment(`${name}: ${numbers.length} events, ${ROUNDS} kills`)
  })
}

/** @param early whether it is killed among its transactions, and not inside the one that stays open */
async function dieWriting(
  library: string,
  location: string,
  first: number,
  early: boolean,
): Promise<void> {
  const args = [WRITER, library, location, String(first), String(EACH)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  await new Promise<void>((resolve, reject) => {
    let text = ''
    const read = (chunk: Buffer): void => {
      text += chunk.toString()
      if (text.includes(early ? 'begun' : 'open')) resolve()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', () => {
      reject(new Error(`it ended before: ${text}`))
    })
  })
  if (early) await new Promise((resolve) => setTimeout(resolve, first % 41))
  child.kill('SIGKILL')
  await exited
}

interface Events {
  list(query: { limit: number; cursor?: string }): Promise<{
    readonly data: readonly { readonly data: Readonly<Record<string, unknown>> }[]
    readonly next_cursor: string | null
  }>
}

async function publishedIn(events: Events): Promise<readonly string[]> {
  const numbers: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = await events.list({ limit: 100, ...(cursor === '' ? {} : { cursor }) })
    numbers.push(...page.data.map(({ data }) => String(data['number'])))
    cursor = page.next_cursor
  }
  return numbers.sort()
}

await t.test('what is no open transaction is refused, whatever the library', async (t) => {
  const url = await postgres.createDatabase()
  const pool = new pg.Pool({ connectionString: url, max: 4 })
  const keyhook = await createKeyhook({
    database: pool,
    masterKey: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
    eventTypes: ['order.paid'],
    logLevel: 'silent',
  })
  t.teardown(async () => {
    await keyhook.stop()
    await pool.end()
  })
  await pool.query('CREATE TABLE orders (number TEXT PRIMARY KEY)')
  const event = { account_id: 'acct_1', type: 'order.paid', data: {} } as const
  for (const [name, { dialect, open }] of Object.entries(LIBRARIES)) {
    if (dialect === 'sqlite') continue
    const library = await open(url)
    let ended: object = {}
    await library.order(keyhook, name, async (transaction) => {
      ended = transaction
    })
    // A library or the server may refuse it: nothing is published either way.
    await t.rejects(keyhook.webhooks.publish(event, { transaction: ended }), name)
    await library.close()
  }
  for (const transaction of [{}, () => undefined, pool]) {
    await t.rejects(keyhook.webhooks.publish(event, { transaction }), TypeError)
  }
  const { data } = await keyhook.as('acct_1').events.list({ limit: 100 })
  t.strictSame(data, [])
})
