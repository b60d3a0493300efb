import { execFile, spawnSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import t from 'tap'
import { runCli } from '../../daemon/cli/program.ts'
import { commandsOf } from '../../daemon/operations/commands.ts'
import { examine } from '../../daemon/cli/doctor.ts'
import { readConfig } from '../../daemon/config/config.ts'
import type { Daemon } from '../../daemon/daemon.ts'
import { startDaemon } from '../../daemon/daemon.ts'
import { createKeyhook } from '../../daemon/embed/index.ts'
import { FAMILIES } from '../../daemon/families/index.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import { kernelError } from '../../lib/errors.ts'
import { createRowPublisher } from '../../daemon/worker/outbox/publish-rows.ts'
import { OUTBOX_SQL } from '../../plugins/outbox/contract/table.ts'
import { openPostgresOutbox } from '../../plugins/outbox/postgres.ts'
import { openSqliteOutbox } from '../../plugins/outbox/sqlite.ts'
import { ROOT } from '../arch/source.ts'
import { until } from '../support/daemon.ts'
import type { Backend, BackendSession } from '../support/outbox.ts'
import { createTables, insertRow, postgresBackend, sqliteBackend } from '../support/outbox.ts'
import { startPostgres } from '../support/postgres.ts'

const OPERATOR = 'operator-token-of-the-outbox-test-0123'

const postgres = await startPostgres()
t.teardown(() => postgres.stop())

const BACKENDS: Readonly<Record<string, (folder: string) => Promise<Backend>>> = {
  sqlite: async (folder) => sqliteBackend(folder),
  postgres: async () => postgresBackend(await postgres.createDatabase()),
}

interface Listed {
  readonly id: string
  readonly type: string
  readonly app_id: string | null
  readonly data: Readonly<Record<string, unknown>>
}

interface Stage {
  readonly daemon: Daemon
  readonly backend: Backend
  readonly session: BackendSession
  readonly env: Readonly<Record<string, string>>
  /** The events of an account, in the order in which they were published. */
  events(account?: string): Promise<readonly Listed[]>
  waiting(): Promise<number>
  metric(line: string): Promise<number>
}

async function open(
  t: Test,
  backend: Backend,
  session: BackendSession,
  folder: string = t.testdir(),
): Promise<Stage> {
  const env = {
    KEYHOOK_DATA_DIR: join(folder, 'data'),
    KEYHOOK_PORT: '0',
    KEYHOOK_APPS: 'off',
    KEYHOOK_OPERATOR_TOKEN: OPERATOR,
    KEYHOOK_EVENT_TYPES: 'order.paid,order.shipped',
    KEYHOOK_OUTBOX_URL: backend.url,
  }
  const daemon = await startDaemon(readConfig(env), createLog('silent'))
  t.teardown(async () => {
    await daemon.stop()
    await session.close()
  })
  const ask = (path: string, account: string, body?: object): Promise<Response> =>
    fetch(daemon.url + path, {
      headers: {
        authorization: `Bearer ${OPERATOR}`,
        'content-type': 'application/json',
        ...(account === '' ? {} : { 'keyhook-account': account }),
      },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    })
  for (const id of ['acct_1', 'acct_2']) await ask('/v1/accounts', '', { id, name: id })
  return {
    daemon,
    backend,
    session,
    env,
    async events(account = 'acct_1') {
      const response = await ask('/v1/events?limit=100', account)
      const { data } = (await response.json()) as { data: Listed[] }
      return data.toReversed()
    },
    async waiting() {
      const sql = 'SELECT count(*) AS n FROM keyhook_outbox WHERE refused_at IS NULL'
      return Number((await session.rows(sql))[0]?.['n'])
    },
    async metric(name) {
      const found = (await daemon.metrics()).split('\n').find((line) => line.startsWith(`${name} `))
      return Number(found?.split(' ').at(-1))
    },
  }
}

/** Refuses the events that an account publishes, for as long as the function returns an error. */
function refuseEvents(
  { daemon }: Stage,
  errorFor: (account: string | undefined) => Error | undefined,
): void {
  const { outbox } = daemon.platform.engine
  const { publish } = outbox
  const refusing: typeof publish = async (events) => {
    const error = errorFor(events[0]?.account_id)
    if (error !== undefined) throw error
    return publish.call(outbox, events)
  }
  Object.assign(outbox, { publish: refusing })
}

const settled = (stage: Stage): Promise<void> =>
  until('no row waits', async () => (await stage.waiting()) === 0)

for (const [name, openBackend] of Object.entries(BACKENDS)) {
  await t.test(`${name}: what is committed is published, in order and once`, async (t) => {
    const folder = t.testdir()
    const backend = await openBackend(folder)
    const session = await createTables(backend)
    const stage = await open(t, backend, session, folder)
    await session.run('BEGIN')
    for (let n = 1; n <= 20; n += 1) {
      await session.run(`INSERT INTO orders VALUES ('o_${n}')`)
      await session.run(insertRow({ data: `{"number": "o_${n}",  "total": 1.50}` }))
    }
    await session.run(insertRow({ id: 'evt_own', app_id: 'app_1', type: 'order.shipped' }))
    await session.run(insertRow({ id: 'evt_own', app_id: 'app_1', type: 'order.shipped' }))
    await session.run(insertRow({ id: null, app_id: null, account_id: 'acct_2' }))
    await session.run('COMMIT')
    await session.run('BEGIN')
    await session.run(insertRow({ data: '{"number": "rolled back"}' }))
    await session.run('ROLLBACK')
    await settled(stage)
    const events = await stage.events()
    t.strictSame(
      events.map(({ data }) => data['number']),
      [...Array.from({ length: 20 }, (_, index) => `o_${index + 1}`), undefined],
    )
    t.ok(events.slice(0, 20).every(({ id }) => /^evt_[0-9a-f]{32}$/.test(id)))
    t.match(events.at(-1), { id: 'evt_own', type: 'order.shipped', app_id: 'app_1' })
    t.equal((await stage.events('acct_2')).length, 1)
    const stored = await stage.daemon.platform.store.events.get('acct_1', events[0]?.id ?? '')
    t.match(Buffer.from(stored?.body ?? []).toString(), '"data":{"number": "o_1",  "total": 1.50}')
    t.equal(await stage.metric('keyhook_outbox_rows_total{result="published"}'), 22)
    t.equal(await stage.metric('keyhook_outbox_rows_total{result="duplicate"}'), 1)
    t.equal(await stage.metric('keyhook_outbox_connected'), 1)
    t.strictSame(await session.rows('SELECT * FROM keyhook_outbox'), [])
    const checks = await examine(stage.env)
    t.match(
      checks.find((one) => one.name === 'outbox'),
      { ok: true, detail: 'its table can be used, 0 rows wait' },
    )
  })

  await t.test(`${name}: refused rows are kept with the reason, and block no other`, async (t) => {
    const folder = t.testdir()
    const backend = await openBackend(folder)
    const session = await createTables(backend)
    const stage = await open(t, backend, session, folder)
    const large = JSON.stringify({ text: 'x'.repeat(262_144) })
    const refused: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>> = {
      undeclared_event_type: [{ type: 'order.payed' }],
      reserved_event_type: [{ type: 'webhook.disabled' }],
      account_not_found: [{ account_id: 'acct_3' }, { account_id: 'no account' }],
      event_too_large: [{ data: large }, { data: `{"t":"${'x'.repeat(262_100)}"}` }],
      invalid_json: [{ data: '{"__proto__": 1}' }, { data: '{"a\\u0000": 1}' }],
      invalid_request: [{ id: 'paid.1' }, { type: 'paid' }, { type: `order.${'x'.repeat(200)}` }],
      event_id_conflict: [{ id: 'evt_own', data: '{"other": true}' }],
    }
    await session.run(insertRow({ id: 'evt_own' }))
    for (const row of Object.values(refused).flat()) {
      await session.run(insertRow(row))
      await session.run(insertRow({ account_id: 'acct_2' }))
    }
    await settled(stage)
    const kept = await session.rows(
      'SELECT refused_code, refused_reason FROM keyhook_outbox ORDER BY position',
    )
    t.strictSame(
      kept.map((row) => row['refused_code']),
      Object.entries(refused).flatMap(([code, rows]) => rows.map(() => code)),
    )
    t.match(kept[0]?.['refused_reason'], /Did you mean "order\.paid"\?/)
    t.equal((await stage.events('acct_2')).length, kept.length)
    t.equal((await stage.events()).length, 1)
    t.equal(await stage.metric('keyhook_outbox_rows_total{result="refused"}'), kept.length)
    const checks = await examine(stage.env)
    t.match(
      checks.find((one) => one.name === 'outbox'),
      { ok: false, detail: `${kept.length} refused rows are kept` },
    )
    await session.run(
      `UPDATE keyhook_outbox SET account_id = 'acct_2', refused_at = NULL WHERE account_id = 'acct_3'`,
    )
    await settled(stage)
    t.equal((await stage.events('acct_2')).length, kept.length + 1, 'it is tried again')
    for (const data of ['{', '[]', '1', 'null']) {
      await t.rejects(session.run(insertRow({ data })), 'the transaction learns at once')
    }
  })

  await t.test(`${name}: an account with too many events delays no other`, async (t) => {
    const folder = t.testdir()
    const backend = await openBackend(folder)
    const session = await createTables(backend)
    const stage = await open(t, backend, session, folder)
    let isLimited = true
    let failures = 1
    refuseEvents(stage, (account) => {
      if (account === 'acct_1') {
        const limited = kernelError('rate_limited', { details: { retry_after: 1 } })
        return isLimited ? limited : undefined
      }
      failures -= 1
      return failures >= 0 ? kernelError('unavailable') : undefined
    })
    // More than are taken at once, and first.
    const first = Array.from({ length: 300 }, () => insertRow({})).join(';')
    await session.run(`BEGIN; ${first}; ${insertRow({ account_id: 'acct_2' })}; COMMIT`)
    await until(
      'the other account is served',
      async () => (await stage.events('acct_2')).length === 1,
    )
    // The row is deleted after its event is published.
    await until('its row alone is deleted', async () => (await stage.waiting()) === 300)
    isLimited = false
    await settled(stage)
    t.equal(await stage.metric('keyhook_outbox_rows_total{result="published"}'), 301)
    t.equal(await stage.metric('keyhook_outbox_rows_total{result="refused"}'), 0)
  })

  await t.test(
    `${name}: a daemon runs without its outbox, and connects once it is there`,
    async (t) => {
      const folder = t.testdir()
      const backend = await openBackend(folder)
      const session = await backend.connect()
      await session.run('CREATE TABLE orders (number TEXT PRIMARY KEY)')
      const stage = await open(t, backend, session, folder)
      t.equal((await fetch(`${stage.daemon.url}/readyz`)).status, 200)
      t.equal(await stage.metric('keyhook_outbox_connected'), 0)
      const absent = (await examine(stage.env)).find((one) => one.name === 'outbox')
      t.match(absent, { ok: false, detail: /no table keyhook_outbox.*`keyhook outbox sql`/ })
      const printed: string[] = []
      const env = { KEYHOOK_OUTBOX_URL: backend.url }
      const terminal = {
        env,
        out: (text: string) => void printed.push(text),
        err: () => undefined,
        readInput: async () => '',
      }
      t.equal(await runCli(['outbox', 'sql'], terminal, commandsOf(FAMILIES)), 0)
      t.equal(printed.join(''), OUTBOX_SQL[backend.dialect])
      await session.run(printed.join(''))
      await session.run(printed.join(''))
      await session.run(insertRow({}))
      await settled(stage)
      t.equal((await stage.events()).length, 1)
      t.equal(await stage.metric('keyhook_outbox_connected'), 1)
    },
  )

  await t.test(
    `${name}: no more is read than fits, and nothing is marked by a failure`,
    async (t) => {
      const folder = t.testdir()
      const backend = await openBackend(folder)
      const session = await createTables(backend)
      t.teardown(() => session.close())
      const address = readConfig({ KEYHOOK_OUTBOX_URL: backend.url }).outboxUrl ?? ''
      const openOutbox = { sqlite: openSqliteOutbox, postgres: openPostgresOutbox }[backend.dialect]
      const source = await openOutbox(address, { rows: 4, bytes: 100, rowBytes: 80 })
      t.teardown(() => source.close())
      const sized = (bytes: number): string =>
        insertRow({ data: `{"t":"${'x'.repeat(bytes - 8)}"}` })
      for (const bytes of [60, 90, 40, 60, 10]) await session.run(sized(bytes))
      await session.run(insertRow({ account_id: 'acct_2' }))
      const seen: (readonly [number, boolean])[][] = []
      const fails = source.take(async (rows) => {
        seen.push(rows.map(({ bytes, data }) => [bytes, data !== undefined]))
        throw new Error('the store failed')
      }, [])
      await t.rejects(fails, { message: 'the store failed' })
      const published = new Set<string>()
      for (let taken = -1; taken !== 0;) {
        taken = await source.take(
          async (rows) => {
            seen.push(rows.map(({ bytes, data }) => [bytes, data !== undefined]))
            for (const { id } of rows) published.add(id)
            return rows.map(() => 'published')
          },
          ['acct_2'],
        )
      }
      const first = [
        [60, true],
        [90, false],
        [40, true],
      ]
      t.strictSame(seen, [
        first,
        first,
        [
          [60, true],
          [10, true],
        ],
      ])
      t.equal(published.size, 5)
      t.strictSame(await source.count(), { waiting: 1, refused: 0 }, 'that of the account left out')
    },
  )
}

await t.test('postgres: a transaction that commits late is not missed', async (t) => {
  const backend = postgresBackend(await postgres.createDatabase())
  const session = await createTables(backend)
  const late = await backend.connect()
  t.teardown(() => late.close())
  const stage = await open(t, backend, session)
  await late.run('BEGIN')
  await late.run(insertRow({ data: '{"number": "late"}' }))
  for (const number of ['early', 'next']) {
    await session.run(insertRow({ data: `{"number": "${number}"}` }))
    await settled(stage)
  }
  await late.run('COMMIT')
  await settled(stage)
  const numbers = (await stage.events()).map(({ data }) => data['number'])
  t.strictSame(numbers, ['early', 'next', 'late'])
})

await t.test('postgres: a notification is enough, and a lost connection is replaced', async (t) => {
  const backend = postgresBackend(await postgres.createDatabase())
  const session = await createTables(backend)
  const HOUR = 3_600_000
  const source = await openPostgresOutbox(backend.url, { poll: HOUR })
  const notified = source.available(new AbortController().signal)
  await session.run(insertRow({}))
  await notified
  await source.close()

  await session.run('DELETE FROM keyhook_outbox')
  const stage = await open(t, backend, session)
  await session.run(insertRow({}))
  await settled(stage)
  const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE query LIKE 'LISTEN%' OR query = 'COMMIT' AND pid <> pg_backend_pid()`
  await session.rows(cut)
  await session.run(insertRow({}))
  await settled(stage)
  t.equal((await stage.events()).length, 2)
})

await t.test('a row that meets an internal error waits and is tried again', async (t) => {
  const backend = sqliteBackend(t.testdir())
  const { daemon, events } = await open(t, backend, await createTables(backend))
  const { platform } = daemon
  const cause = new Error('not of the row')
  let failures = 1
  let now = 0
  const causes: unknown[] = []
  const counts = { published: 0, duplicate: 0, refused: 0 }
  const publisher = createRowPublisher({
    platform: {
      ...platform,
      clock: { ...platform.clock, steady: () => now },
      store: {
        ...platform.store,
        accounts: {
          ...platform.store.accounts,
          get: async (id) => {
            if (id !== 'acct_2' && failures-- > 0) throw cause
            return platform.store.accounts.get(id)
          },
        },
      },
    },
    hasAccounts: true,
    counts,
    onUnexplained: (_, unexplained) => void causes.push(unexplained),
    onRefused: () => undefined,
  })
  const row = { app_id: null, type: 'order.paid', data: '{}', bytes: 2 }
  const own = { ...row, position: '1', id: 'evt_1', account_id: 'acct_1' }
  const other = { ...row, position: '2', id: 'evt_2', account_id: 'acct_2' }
  const behind = { ...own, position: '3', id: 'evt_3' }
  const outcomes = await publisher.publish([own, other, behind])
  t.strictSame(outcomes, ['waits', 'published', 'waits'], 'none of its account passes it')
  t.strictSame(causes, [cause], 'the log has the cause')
  t.strictSame(publisher.held(), ['acct_1'], 'it does not stand before the rows of others')
  now = 15_000
  t.strictSame(publisher.held(), [], 'until it is tried again')
  t.strictSame(await publisher.publish([own]), ['published'])
  t.strictSame(counts, { published: 2, duplicate: 0, refused: 0 })
  t.strictSame(
    (await events()).map(({ id }) => id),
    ['evt_1'],
  )
  failures = 20
  const failing = { ...behind, account_id: 'acct_3' }
  for (let attempt = 1; attempt < 20; attempt += 1) {
    t.strictSame(await publisher.publish([failing]), ['waits'], `attempt ${attempt}`)
  }
  const reason = 'it could not be published: the log of the daemon has the cause'
  t.strictSame(await publisher.publish([failing]), [{ code: 'internal_error', reason }])
  t.strictSame(counts, { published: 2, duplicate: 0, refused: 1 })
})

const PYTHON = "the page's Python publishes in the backend's own transaction"

if (spawnSync('python3', ['-c', 'import sqlite3']).status !== 0) {
  t.comment(`Python is not installed: ${PYTHON} was not run`)
} else {
  await t.test(PYTHON, async (t) => {
    const folder = t.testdir()
    const backend = sqliteBackend(folder)
    const session = await createTables(backend)
    const stage = await open(t, backend, session, folder)
    const page = readFileSync(join(ROOT, 'docs/outbox.md'), 'utf8')
    const [, example = ''] = /```python\n([^]+?)```/.exec(page) ?? []
    t.match(example, 'INSERT INTO keyhook_outbox')
    const before = `import json, sqlite3, sys\nconnection = sqlite3.connect(sys.argv[1])\nnumber = "o_1"\n`
    const file = join(folder, 'shop.sqlite')
    await promisify(execFile)('python3', ['-c', before + example, file])
    await settled(stage)
    t.match(await stage.events(), [{ type: 'order.paid', data: { number: 'o_1' } }])
    t.strictSame(await session.rows('SELECT * FROM orders'), [{ number: 'o_1' }])
  })
}

await t.test("Keyhook's own file is no outbox, whatever it is called", async (t) => {
  const folder = t.testdir()
  const data = join(folder, 'data')
  const own = join(data, 'keyhook.db')
  const message = 'KEYHOOK_OUTBOX_URL must be the SQLite file of your backend, not that of Keyhook'
  const env = { KEYHOOK_DATA_DIR: data, KEYHOOK_PORT: '0', KEYHOOK_APPS: 'off' }
  const start = (file: string): Promise<Daemon> =>
    startDaemon(readConfig({ ...env, KEYHOOK_OUTBOX_URL: `sqlite:${file}` }), createLog('silent'))
  await t.rejects(start(own), { name: 'ConfigError', message: new RegExp(`^${message}`) })
  const daemon = await startDaemon(readConfig(env), createLog('silent'))
  await daemon.stop()
  const link = join(folder, 'shop.sqlite')
  symlinkSync(own, link)
  await t.rejects(start(link), { name: 'ConfigError' })
  const checks = await examine({ ...env, KEYHOOK_OUTBOX_URL: `sqlite:${link}` })
  const failed = checks.filter(({ ok }) => !ok)
  t.match(failed, [{ name: 'outbox', detail: message }])
  t.equal(failed.length, 1, 'said once')
  await t.rejects(createKeyhook({ database: own, outboxUrl: `sqlite:${link}` }), {
    name: 'ConfigError',
    message: /^outboxUrl must be/,
  })
  for (const url of ['sqlite::memory:', 'mysql://root:secret@localhost/shop']) {
    t.throws(() => readConfig({ KEYHOOK_OUTBOX_URL: url }), { name: 'ConfigError' })
  }
})

await t.test('embedded, accounts are your own', async (t) => {
  const backend = postgresBackend(await postgres.createDatabase())
  const session = await createTables(backend)
  const keyhook = await createKeyhook({
    database: backend.url,
    masterKey: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
    eventTypes: ['order.paid'],
    outboxUrl: backend.url,
    logLevel: 'silent',
  })
  t.teardown(async () => {
    await keyhook.stop()
    await session.close()
  })
  await session.run(insertRow({ account_id: 'never_created', id: 'evt_1' }))
  const { events } = keyhook.platform.store
  await until(
    'it is published',
    async () => (await events.get('never_created', 'evt_1')) !== undefined,
  )
  t.pass('in one database with the tables of Keyhook')
})
