/** Backups of PostgreSQL, with the server and the programs that Debian packages: test/soak/tools.sh installs them. */
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { ROOT } from '../arch/source.ts'
import type { Ran } from '../support/backups.ts'
import { runKeyhook } from '../support/backups.ts'
import { askControl } from '../support/control.ts'
import type { DaemonProcess } from '../support/daemon.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import { debianPostgres, startPostgres } from '../support/postgres.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'
import { sized } from '../support/soak.ts'

t.setTimeout(10 * MINUTE)

const programs = debianPostgres()
if (programs === undefined && process.env['CI'] === 'true') t.fail('a machine of CI has PostgreSQL')
if (programs === undefined) {
  t.comment('PostgreSQL is not installed, and not run')
  process.exit(0)
}

const BACKUPS = sized(2, 3, 20)
const PUBLISHERS = 4
const BATCH = 20
const PASSPHRASE = 'correct horse battery staple'
const SETTINGS = {
  KEYHOOK_OWNER_EMAIL: 'owner@example.com',
  KEYHOOK_OWNER_PASSWORD: 'a password of this test',
  KEYHOOK_EVENT_TYPES: 'order.paid',
  KEYHOOK_WEBHOOK_RETRY_SCHEDULE: '1,600',
}
const MASTER_KEY = `k1:${Buffer.alloc(32, 7).toString('base64')}`

const server = await startPostgres({ programs })
t.teardown(() => server.stop())
const place = t.testdir({ data: {}, backups: {} })
const [data, backups] = [join(place, 'data'), join(place, 'backups')]
const source = await server.createDatabase()
// The first attempt fails, and the next is due after the last test.
const receiver = await startReceiver(
  answerWith('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n'),
)
t.teardown(() => receiver.close())

const serve = (folder: string, url: string, more = {}): Promise<DaemonProcess> =>
  startDaemonProcess({
    ...SETTINGS,
    KEYHOOK_DATA_DIR: folder,
    KEYHOOK_DATABASE_URL: url,
    KEYHOOK_MASTER_KEY: MASTER_KEY,
    ...more,
  })

/** Runs `keyhook backup` with the settings of a database. */
function backup(url: string, args: readonly string[], input = ''): Promise<Ran> {
  const env = { KEYHOOK_DATABASE_URL: url, KEYHOOK_MASTER_KEY: MASTER_KEY }
  return runKeyhook(data, ['backup', ...args], { env, input })
}

async function create(...args: readonly string[]): Promise<string> {
  const line = ['create', '--to', backups, '--postgres-programs', programs ?? '', '--json', ...args]
  const ran = await backup(source, line, PASSPHRASE)
  if (ran.code !== 0) throw new Error(ran.err)
  return (JSON.parse(ran.out) as { readonly folder: string }).folder
}

interface Report {
  readonly sending: string
  readonly waiting: { readonly deliveries: number }
  readonly keys: {
    readonly valid: number
    readonly revoked: number
    readonly valid_again: readonly { readonly id: string }[] | null
  }
}

const restoring = (folder: string, to: string): readonly string[] => [
  'restore',
  folder,
  '--to',
  to,
  '--postgres-programs',
  programs ?? '',
]

async function rowsOf<Row extends object>(url: string, sql: string): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows as Row[]
  } finally {
    await client.end()
  }
}

const tablesIn = (url: string): Promise<readonly object[]> =>
  rowsOf(url, "SELECT relname FROM pg_class WHERE relname LIKE 'keyhook%'")

const daemon = await serve(data, source)
t.teardown(() => daemon.end('SIGTERM'))
const ask = askControl(data)
await ask('POST', '/v1/webhooks', {
  url: `http://127.0.0.1:${receiver.port}/`,
  events: ['order.paid'],
})
await ask('POST', '/v1/apps', { name: 'Shop', template_id: 'landing' })
const { id: revoked } = await ask('POST', '/v1/keys', { name: 'later', scopes: ['apps:read'] })
await ask('POST', '/v1/keys', { name: 'kept', scopes: ['apps:read'] })
await ask('POST', '/v1/events', { type: 'order.paid', data: {} })
await until('an attempt failed', () => receiver.requests.length > 0)
const first = await create('--master-key', '--passphrase-stdin')
await ask('DELETE', `/v1/keys/${String(revoked)}`)
await ask('POST', '/v1/events', { type: 'order.paid', data: {} })
const second = await create()

await t.test(
  'a restored database holds deliveries back, and names keys revoked since',
  async (t) => {
    const [to, url] = [join(place, 'paused'), await server.createDatabase()]
    const ran = await backup(
      url,
      [...restoring(first, to), '--passphrase-stdin', '--json'],
      PASSPHRASE,
    )
    t.equal(ran.code, 0, ran.err)
    const report = JSON.parse(ran.out) as Report
    t.match(report, {
      sending: 'paused',
      waiting: { deliveries: 1 },
      keys: { valid: 2, revoked: 0 },
    })
    t.same(
      report.keys.valid_again?.map(({ id }) => id),
      [revoked],
      'by the newer backup beside it',
    )
    t.equal(readFileSync(join(to, 'master-key'), 'utf8'), `${MASTER_KEY}\n`)
    const before = receiver.requests.length
    const restored = await startDaemonProcess({
      ...SETTINGS,
      KEYHOOK_DATA_DIR: join(place, 'paused-data'),
      KEYHOOK_DATABASE_URL: url,
      KEYHOOK_MASTER_KEY_FILE: join(to, 'master-key'),
    })
    t.teardown(() => restored.end('SIGTERM'))
    const askCopy = askControl(join(place, 'paused-data'))
    t.match(await askCopy('GET', '/v1/sending'), { status: 'paused', waiting_webhooks: 1 })
    await askCopy('POST', '/v1/events', { type: 'order.paid', data: {} })
    const { data: apps } = await askCopy('GET', '/v1/apps')
    t.match(apps, [{ name: 'Shop' }])
    // Longer than a daemon takes to look for the end of the pause.
    await pause(2500)
    t.equal(receiver.requests.length, before, 'nothing was sent')
    await askCopy('POST', '/v1/sending/resume')
    await until('it is sent', () => receiver.requests.length > before)
  },
)

await t.test('a restore may revoke every key, and send at once', async (t) => {
  const [to, url] = [join(place, 'revoked'), await server.createDatabase()]
  const ran = await backup(url, [...restoring(first, to), '--revoke-all', '--resume', '--json'])
  t.equal(ran.code, 0, ran.err)
  t.match(JSON.parse(ran.out), {
    sending: 'resumed',
    keys: { valid: 0, revoked: 2, valid_again: [] },
  })
})

await t.test('a drill restores into a database of its own, and leaves nothing', async (t) => {
  const databases = (): Promise<readonly object[]> =>
    rowsOf(source, 'SELECT datname FROM pg_database ORDER BY datname')
  const before = await databases()
  const line = ['drill', first, '--postgres-programs', programs, '--json']
  const ran = await backup(source, line)
  t.equal(ran.code, 0, ran.err)
  t.match(JSON.parse(ran.out), { counts: { keys: 2, apps: 1 }, secrets_proved: true, migrated: [] })
  t.same(await databases(), before)
})

await t.test('a restore needs an empty database, and the programs', async (t) => {
  const to = join(place, 'refused')
  t.match(await backup(source, restoring(first, to)), { code: 1, err: /is not empty: it holds/ })
  const url = await server.createDatabase()
  const sqlite = await runKeyhook(data, ['backup', ...restoring(first, to)])
  t.match(sqlite, { code: 1, err: /Set KEYHOOK_DATABASE_URL to an empty one/ })
  const missing = ['restore', first, '--to', to, '--postgres-programs', place]
  t.match(await backup(url, missing), { code: 1, err: /Install PostgreSQL's client programs/ })
  t.same(await tablesIn(url), [])
  t.throws(() => readdirSync(to), 'no folder is left')
})

/** Changes of a backup, whose manifest is made to fit. */
const MISFITS: Readonly<Record<string, (folder: string) => void>> = {
  'the dump of another time': (folder) => {
    cpSync(join(second, 'keyhook.pgdump'), join(folder, 'keyhook.pgdump'))
  },
  'a dump that was cut off': (folder) => {
    const dump = readFileSync(join(folder, 'keyhook.pgdump'))
    writeFileSync(join(folder, 'keyhook.pgdump'), dump.subarray(0, dump.length * 0.9))
  },
  'other counts': (folder) => {
    change(folder, (text) => text.replace(/"keys": \d+/, '"keys": 7'))
  },
  'another installation': (folder) => {
    change(folder, (text) => text.replace(/"installation": ".*"/, '"installation": "it\'s"'))
  },
}

function change(folder: string, edit: (text: string) => string): void {
  const file = join(folder, 'manifest.json')
  const text = edit(readFileSync(file, 'utf8'))
  writeFileSync(file, text)
  const sha256 = createHash('sha256').update(text).digest('hex')
  writeFileSync(`${file}.sha256`, `${sha256}  manifest.json\n`)
}

/** Makes the manifest name the dump that is there. */
function describe(folder: string): void {
  const dump = readFileSync(join(folder, 'keyhook.pgdump'))
  const sha256 = createHash('sha256').update(dump).digest('hex')
  change(folder, (text) =>
    text.replace(
      /"path": "keyhook.pgdump",\s+"size": \d+,\s+"sha256": "\w+"/,
      `"path": "keyhook.pgdump", "size": ${dump.length}, "sha256": "${sha256}"`,
    ),
  )
}

await t.test('a dump that does not match its manifest is refused', async (t) => {
  for (const [what, misfit] of Object.entries(MISFITS)) {
    const copies = join(place, 'misfits')
    rmSync(copies, { recursive: true, force: true })
    mkdirSync(copies)
    const copy = join(copies, first.split('/').at(-1) ?? '')
    cpSync(first, copy, { recursive: true })
    misfit(copy)
    const to = join(copies, 'to')
    const url = await server.createDatabase()
    if (what.includes('dump')) {
      const plain = await backup(url, restoring(copy, to))
      t.match(plain, { code: 1, err: /keyhook\.pgdump (has \d+ bytes|does not match)/ }, what)
      describe(copy)
    }
    const ran = await backup(url, restoring(copy, to))
    t.match(ran, { code: 1, err: /its manifest says|pg_restore failed/ }, `${what}: ${ran.err}`)
    t.same(await tablesIn(url), [], `${what}: nothing was restored`)
    t.throws(() => readdirSync(to), `${what}: no folder is left`)
  }
})

await t.test('a restore that is killed leaves the database empty', async (t) => {
  const [bin, to, url] = [join(place, 'bin'), join(place, 'killed'), await server.createDatabase()]
  mkdirSync(bin)
  symlinkSync(join(programs, 'psql'), join(bin, 'psql'))
  // All but the last of the dump, and then it waits for its own end.
  const slow = `#!/bin/sh\necho $$ > ${bin}/pid\n${programs}/pg_restore "$@" | head -n 1000\nexec sleep 600\n`
  writeFileSync(join(bin, 'pg_restore'), slow, { mode: 0o755 })
  const line = ['backup', 'restore', first, '--to', to, '--postgres-programs', bin]
  const child = spawn(process.execPath, [join(ROOT, 'dist/daemon/main.js'), ...line], {
    env: { PATH: process.env['PATH'], KEYHOOK_DATA_DIR: data, KEYHOOK_DATABASE_URL: url },
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  const others = (): Promise<readonly object[]> =>
    rowsOf(
      url,
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database()
       AND backend_xid IS NOT NULL AND pid <> pg_backend_pid()`,
    )
  await until('the restore is at work', async () => (await others()).length > 0)
  child.kill('SIGKILL')
  await ended
  process.kill(Number(readFileSync(join(bin, 'pid'), 'utf8')))
  await until('its transaction has ended', async () => (await others()).length === 0)
  t.same(await tablesIn(url), [])
})

await t.test('a file that was added, or another name, is refused', async (t) => {
  const copies = join(place, 'copies')
  const copy = join(copies, first.split('/').at(-1) ?? '')
  cpSync(first, copy, { recursive: true })
  t.match(await backup(source, ['verify', copy]), { code: 0, out: /is whole: 3 files/ })
  appendFileSync(join(copy, 'other.pgdump'), 'x')
  t.match(await backup(source, ['verify', copy]), { code: 1, err: /does not belong to it/ })
  renameSync(copy, join(copies, second.split('/').at(-1) ?? ''))
  const renamed = await backup(source, ['verify', join(copies, second.split('/').at(-1) ?? '')])
  t.match(renamed, { code: 1, err: /give it that name again/ })
})

await t.test('under load a copy has every event acknowledged before its start', async (t) => {
  const acknowledged: string[] = []
  let isLoaded = true
  const event = { type: 'order.paid', data: { text: 'x'.repeat(500) } }
  const publish = async (): Promise<void> => {
    while (isLoaded) {
      const { data } = await ask('POST', '/v1/events', { events: Array(BATCH).fill(event) })
      acknowledged.push(...(data as readonly { readonly id: string }[]).map(({ id }) => id))
    }
  }
  const publishing = Promise.all(Array.from({ length: PUBLISHERS }, publish))
  publishing.catch(() => undefined)
  const made: { folder: string; before: readonly string[]; during: number }[] = []
  try {
    for (let round = 0; round < BACKUPS; round++) {
      const published = acknowledged.length
      await until('events are accepted', () => acknowledged.length > published)
      const before = [...acknowledged]
      const folder = await create()
      made.push({ folder, before, during: acknowledged.length - before.length })
    }
  } finally {
    isLoaded = false
    await publishing
  }
  for (const [round, { folder, before, during }] of made.entries()) {
    const url = await server.createDatabase()
    const ran = await backup(url, restoring(folder, join(place, `loaded-${round}`)))
    t.equal(ran.code, 0, ran.err)
    const held = await rowsOf<{ id: string }>(url, 'SELECT id FROM keyhook_events')
    const ids = new Set(held.map(({ id }) => id))
    const lost = before.filter((id) => !ids.has(id))
    t.same(lost, [], `backup ${round}: ${before.length} before it, ${during} during it`)
    t.ok(during > 0, 'the daemon accepted events meanwhile')
  }
})
