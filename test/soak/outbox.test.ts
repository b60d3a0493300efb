import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import type { DaemonProcess } from '../support/daemon.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import type { Backend, BackendSession } from '../support/outbox.ts'
import { createTables, postgresBackend, sqliteBackend } from '../support/outbox.ts'
import type { Writer } from '../support/outbox-writers.ts'
import { findWriters } from '../support/outbox-writers.ts'
import { startPostgres } from '../support/postgres.ts'
import { IS_SOAK, sized } from '../support/soak.ts'

/** Processes of the backend; each is killed. */
const ROUNDS = sized(4, 4, 50)
/** Transactions of each, half of them rolled back, before the one that stays open: in the long form 400 of both. */
const EACH = sized(8, 16)
t.setTimeout(sized(10, 15, 120) * MINUTE)

const OPERATOR = 'operator-token-of-the-outbox-soak-0123'

const postgres = await startPostgres()
t.teardown(() => postgres.stop())

const { writers, missing } = findWriters(t.testdir(), IS_SOAK)
for (const { name, lacks } of missing) t.comment(`${name}: not run, ${lacks} is not installed`)
if (process.env['CI'] === 'true') {
  const absent = missing.filter(({ isToolchain }) => isToolchain || IS_SOAK)
  t.strictSame(
    absent.map(({ lacks }) => lacks),
    [],
    'a machine of CI has the programs; drivers are installed for the soak',
  )
}
const dialects = new Set(writers.map(({ dialect }) => dialect))
t.equal(dialects.size, 2, 'a writer of each database runs')

for (const writer of writers) {
  await t.test(`${writer.name}: the events are those of the committed transactions`, async (t) => {
    const folder = t.testdir()
    const backend =
      writer.dialect === 'sqlite'
        ? sqliteBackend(folder)
        : postgresBackend(await postgres.createDatabase())
    const session = await createTables(backend)
    t.teardown(() => session.close())
    if (writer.dialect === 'sqlite') await session.run('PRAGMA journal_mode = WAL')
    const stage = await openDaemon(t, backend, folder)
    for (let round = 0; round < ROUNDS; round += 1) {
      const died = dieWriting(writer, backend, round)
      if (round % 4 === 1) await stage.killDaemon()
      await died
    }
    // The server may still carry out the COMMIT of a process that was killed: this waits for it.
    if (writer.dialect === 'postgres')
      await session.run('BEGIN; LOCK TABLE orders IN SHARE MODE; COMMIT')
    const expected = await committed(session)
    await until('no row waits', async () => (await waitingIn(session)) === 0)
    t.strictSame(await stage.published(), expected)
    t.ok(expected.length >= (ROUNDS * EACH) / 4, `${expected.length} events`)
    t.strictSame(await session.rows('SELECT * FROM keyhook_outbox'), [], 'none was refused')
    t.comment(`${writer.name}: ${expected.length} events, ${ROUNDS} kills of the backend`)
  })
}

/**
 * Every second process is killed inside its last transaction, which both statements are part of; the others
 * at a moment of their work.
 */
async function dieWriting(writer: Writer, backend: Backend, round: number): Promise<void> {
  const first = round * (EACH + 1)
  const [program = '', ...args] = writer.command(backend.url, first, EACH)
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.on('error', () => undefined)
  child.stdin.write(writer.input?.(first, EACH) ?? '')
  const exited = once(child, 'exit')
  if (round % 2 === 0) await printed(child, 'open')
  else {
    await printed(child, 'begun')
    await new Promise((resolve) => setTimeout(resolve, (round * 7) % 23))
  }
  child.kill('SIGKILL')
  await exited
}

function printed(child: ChildProcess, word: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        text += chunk.toString()
        if (text.includes(word)) resolve()
      })
    }
    child.once('error', reject)
    child.once('exit', () => {
      reject(new Error(`it ended before: ${text}`))
    })
  })
}

interface Stage {
  killDaemon(): Promise<void>
  /** Numbers of the orders that events tell of, sorted. */
  published(): Promise<readonly string[]>
}

async function openDaemon(t: Test, { dialect, url }: Backend, folder: string): Promise<Stage> {
  const env = {
    KEYHOOK_DATA_DIR: join(folder, 'data'),
    KEYHOOK_OPERATOR_TOKEN: OPERATOR,
    KEYHOOK_EVENT_TYPES: 'order.paid',
    KEYHOOK_OUTBOX_URL: url,
    KEYHOOK_RATE_READS: '0',
    ...(dialect === 'sqlite'
      ? {}
      : {
          // The outbox of this backend is in the database of Keyhook.
          KEYHOOK_DATABASE_URL: url,
          KEYHOOK_MASTER_KEY: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
        }),
  }
  let daemon: DaemonProcess = await startDaemonProcess(env)
  t.teardown(() => daemon.end('SIGKILL').then(() => undefined))
  const headers = { authorization: `Bearer ${OPERATOR}`, 'content-type': 'application/json' }
  await fetch(`${daemon.url}/v1/accounts`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ id: 'acct_1', name: 'Acme' }),
  })
  return {
    async killDaemon() {
      await daemon.end('SIGKILL')
      daemon = await startDaemonProcess(env)
    },
    async published() {
      const numbers: string[] = []
      for (let cursor = ''; ;) {
        const response = await fetch(`${daemon.url}/v1/events?limit=100${cursor}`, {
          headers: { ...headers, 'keyhook-account': 'acct_1' },
        })
        const page = (await response.json()) as {
          readonly data: readonly { readonly data: { readonly number: string } }[]
          readonly has_more: boolean
          readonly next_cursor: string | null
        }
        numbers.push(...page.data.map(({ data }) => data.number))
        if (!page.has_more) return numbers.sort()
        cursor = `&cursor=${page.next_cursor ?? ''}`
      }
    },
  }
}

async function committed(session: BackendSession): Promise<readonly string[]> {
  const rows = await session.rows('SELECT number FROM orders')
  return rows.map((row) => String(row['number'])).sort()
}

async function waitingIn(session: BackendSession): Promise<number> {
  const [row] = await session.rows(
    'SELECT count(*) AS n FROM keyhook_outbox WHERE refused_at IS NULL',
  )
  return Number(row?.['n'])
}
