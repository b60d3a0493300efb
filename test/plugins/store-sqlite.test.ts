import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Sequelize, Transaction } from 'sequelize'
import sqlite3 from 'sqlite3'
import t from 'tap'
import {
  ACCOUNT,
  deliveryOf,
  publicationOf,
  publishDeliveries,
  sampleAccount,
  sampleClaim,
  sampleDelivery,
  sampleKey,
  sampleWebhook,
} from '../../plugins/store/conformance/samples.ts'
import { openSqliteStore, openStore } from '../../plugins/store/open.ts'
import type { Query, SqlClient } from '../../plugins/store/sql/client.ts'
import { coreSteps, migrate } from '../../plugins/store/sql/migrate.ts'
import { openSqlite } from '../../plugins/store/sql/sqlite.ts'
import { createSqlStore } from '../../plugins/store/sql/store.ts'
import { nameTables } from '../../plugins/store/sql/tables.ts'
import { signal } from '../support/signal.ts'

const NOW = 1_800_000_000_000
const root = await mkdtemp(join(tmpdir(), 'keyhook-store-'))
t.teardown(() => rm(root, { recursive: true, force: true }))

let files = 0
const newFile = (): string => join(root, `${files++}.sqlite`)

await t.test('SQLite: every connection runs in WAL mode with synchronous=FULL', async (t) => {
  const client = await openSqlite(newFile())
  t.teardown(() => client.close())
  const pragmas = async (query: Query) => [
    ...(await query('PRAGMA journal_mode')),
    ...(await query('PRAGMA synchronous')),
    ...(await query('PRAGMA foreign_keys')),
  ]
  const durable = [{ journal_mode: 'wal' }, { synchronous: 2 }, { foreign_keys: 1 }]
  t.same(await pragmas(client.read), durable, 'the reader')
  t.same(await client.transaction(pragmas), durable, 'the writer')
  t.same(await client.exclusive('ping', pragmas), durable, 'the prepared statements')
})

await t.test('SQLite: the first opening migrates, the second finds nothing to do', async (t) => {
  const file = newFile()
  const first = await openSqliteStore(file)
  t.same(
    first.migrated,
    coreSteps(nameTables('')).map(({ name }) => name),
  )
  await first.store.close()
  const second = await openSqliteStore(file)
  t.same(second.migrated, [])
  await second.store.close()
})

await t.test('SQLite: a webhook of an earlier release is as its creator set it', async (t) => {
  const file = newFile()
  const { store } = await openSqliteStore(file)
  t.teardown(() => store.close())
  const webhook = sampleWebhook('wh_1')
  await store.write(async (tx) => {
    await tx.keys.insert(sampleKey('key_1'))
    await tx.webhooks.insert(webhook)
  })
  const client = await openSqlite(file)
  t.teardown(() => client.close())
  const { webhooks } = nameTables('keyhook_')
  await client.transaction((query) =>
    query(`UPDATE ${webhooks} SET set_by_type = NULL, set_by_id = NULL, set_at = NULL,
      url_set_key = NULL, events_set_key = NULL, apps_set_key = NULL, secret_set_key = NULL`),
  )
  t.same(await store.webhooks.get(ACCOUNT, 'wh_1'), webhook)
  t.same(await store.webhooks.fromKey(ACCOUNT, 'key_1'), [webhook])
})

await t.test('SQLite: keys of an earlier release end with their lines', async (t) => {
  const client = await openSqlite(newFile())
  t.teardown(() => client.close())
  const tables = nameTables('')
  const names = await migrate(client, tables, coreSteps(tables))
  const store = createSqlStore(client, tables)
  const below = (id: string, parent_id: string, depth: number, changes = {}) =>
    sampleKey(id, { parent_id, depth, ...changes })
  await store.write(async ({ keys }) => {
    await keys.insert(sampleKey('key_1', { expires_at: NOW + 20 }))
    await keys.insert(below('key_2', 'key_1', 1))
    await keys.insert(below('key_3', 'key_2', 2, { expires_at: NOW + 10 }))
    await keys.insert(below('key_4', 'key_1', 1, { revoked_at: NOW - 10 }))
    await keys.insert(below('key_5', 'key_4', 2))
  })
  await client.transaction(async (query) => {
    for (const name of ['live', 'live_below', 'by_end']) await query(`DROP INDEX keys_${name}`)
    for (const name of ['ends_at', 'line_revoked']) {
      await query(`ALTER TABLE keys DROP COLUMN ${name}`)
    }
    await query(`DELETE FROM migrations WHERE name = 'keys/0003-ends-of-lines'`)
  })
  t.same(await migrate(client, tables, coreSteps(tables)), ['keys/0003-ends-of-lines'])
  t.ok(names.includes('keys/0003-ends-of-lines'))
  const query = { account_id: ACCOUNT, within: null, limit: 9, after: null }
  const live = async (live_at: number) =>
    (await store.keys.list({ ...query, live_at })).rows.map(({ id }) => id)
  t.same(await live(NOW), ['key_3', 'key_2', 'key_1'])
  t.same(await live(NOW + 10), ['key_2', 'key_1'])
  t.same(await live(NOW + 20), [])
  t.equal(await store.purge('keys', NOW, 9), 1, 'the one below first')
  t.equal(await store.purge('keys', NOW, 9), 1)
})

await t.test('SQLite: secrets that an earlier release ended and left are deleted', async (t) => {
  const client = await openSqlite(newFile())
  t.teardown(() => client.close())
  const tables = nameTables('')
  await migrate(client, tables, coreSteps(tables))
  const store = createSqlStore(client, tables)
  const secretOf = (id: string, not_after: number | null) => ({
    id,
    encrypted: 'v1.k1.sealed',
    display: 'whsec_x…',
    created_at: NOW,
    not_after,
  })
  const open = [secretOf('s3', null), secretOf('s2', NOW)]
  const webhook = sampleWebhook('wh_1', { secrets: [...open, secretOf('s1', 0)] })
  await store.write((tx) => tx.webhooks.insert(webhook))
  const step = 'webhooks/0004-ended-secrets-deleted'
  await client.transaction((query) => query('DELETE FROM migrations WHERE name = $1', [step]))
  t.same(await migrate(client, tables, coreSteps(tables)), [step])
  t.same((await store.webhooks.get(ACCOUNT, 'wh_1'))?.secrets, open)
})

await t.test('SQLite: what was committed survives, and claims of the boot before', async (t) => {
  const file = newFile()
  const first = await openSqliteStore(file)
  await first.store.write((tx) => tx.accounts.insert(sampleAccount()))
  await publishDeliveries(first.store, sampleDelivery('d1'), sampleDelivery('d2'))
  const queues = [{ webhook_id: 'wh_1', limit: 1 }]
  await first.store.claim(sampleClaim(NOW, { queues }))
  await first.store.close()
  const { store } = await openSqliteStore(file)
  t.teardown(() => store.close())
  t.same(await store.accounts.get(ACCOUNT), sampleAccount())
  t.equal((await deliveryOf(store, 'd1'))?.status, 'delivering')
  t.equal(await store.recover(NOW), 1)
  t.same(await deliveryOf(store, 'd1'), sampleDelivery('d1', { next_at: NOW }))
})

await t.test('SQLite: closing waits for reads under way', async (t) => {
  const { store } = await openSqliteStore(join(t.testdir(), 'keyhook.db'))
  const reads = Array.from({ length: 40 }, (_, index) => store.webhooks.get('acc', `wh_${index}`))
  await store.close()
  t.same(await Promise.all(reads), Array(40).fill(undefined))
})

await t.test('SQLite: what reads on while the database closes is refused', async (t) => {
  const client = await openSqlite(newFile())
  const text = 'SELECT 1 AS one'
  for (let times = 0; times < 3; times += 1) await client.read(text)
  let isClosed = false
  const reading = (async () => {
    while (!isClosed) await client.read(text)
  })()
  const refused = t.rejects(reading, { code: 'unavailable' })
  await client.close()
  isClosed = true
  await refused
})

await t.test('SQLite: a table prefix is honoured', async (t) => {
  await t.test('everything that is made bears it, and two stores share a file', async (t) => {
    const file = newFile()
    const { store } = await openSqliteStore(file, { tablePrefix: 'dev_' })
    t.teardown(() => store.close())
    await store.write((tx) => tx.accounts.insert(sampleAccount()))
    const client = await openSqlite(file)
    t.teardown(() => client.close())
    const made = await client.read<{ name: string }>(
      `SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite^_%' ESCAPE '^'`,
    )
    t.ok(made.length > 20)
    t.same(
      made.filter(({ name }) => !name.startsWith('dev_')),
      [],
    )
    const other = await openSqliteStore(file)
    t.teardown(() => other.store.close())
    t.equal(other.migrated.length, coreSteps(nameTables('')).length)
    t.equal(await other.store.accounts.get(ACCOUNT), undefined)
  })

  await t.test('one that could not be a name is refused before a file is made', async (t) => {
    const before = await readdir(root)
    for (const tablePrefix of ['Dev_', '1_', 'a-', 'a"; --', `a${'b'.repeat(21)}`]) {
      await t.rejects(openSqliteStore(newFile(), { tablePrefix }), TypeError)
    }
    t.same(await readdir(root), before)
  })
})

await t.test('SQLite: an embedder’s own Sequelize', async (t) => {
  const sequelizeOn = (storage: string): Sequelize => {
    const sequelize = new Sequelize({
      dialect: 'sqlite',
      dialectModule: sqlite3,
      storage,
      logging: false,
    })
    t.teardown(() => sequelize.close())
    return sequelize
  }
  const immediate = { type: Transaction.TYPES.IMMEDIATE }

  await t.test('rows of both commit together, and roll back together', async (t) => {
    const sequelize = sequelizeOn(newFile())
    const { store } = await openStore(sequelize)
    t.teardown(() => store.close())
    await sequelize.query('CREATE TABLE orders (id TEXT)')
    const order = (id: string, then: () => void) =>
      store.hold?.(
        () =>
          sequelize.transaction(immediate, async (transaction) => {
            await sequelize.query(`INSERT INTO orders VALUES ('${id}')`, { transaction })
            const unit = store.join?.(transaction)
            await unit?.tx.insertPublished([publicationOf(sampleDelivery(id))])
            then()
          }),
        { maxAge: 60_000 },
      )
    const cause = new Error('changed my mind')
    const failing = order('d1', () => {
      throw cause
    })
    await t.rejects(failing ?? Promise.resolve(), cause)
    await order('d2', () => undefined)
    t.same((await sequelize.query('SELECT id FROM orders'))[0], [{ id: 'd2' }])
    t.equal(await deliveryOf(store, 'd1'), undefined)
    t.same(await deliveryOf(store, 'd2'), sampleDelivery('d2'))
  })

  await t.test('is left open when the store is closed', async (t) => {
    const sequelize = sequelizeOn(newFile())
    const { store } = await openStore(sequelize)
    await store.close()
    t.same((await sequelize.query('SELECT 1 AS one'))[0], [{ one: 1 }])
  })

  await t.test('a database in memory is refused', async (t) => {
    await t.rejects(openStore(sequelizeOn(':memory:')), TypeError)
  })
})

await t.test('SQLite: the writer’s turn is held', async (t) => {
  const { store } = await openStore(newFile())
  t.teardown(() => store.close())
  const { hold } = store
  if (hold === undefined) throw new Error('SQLite has one writer, whose turn can be held')

  await t.test('nothing else writes until the work ends', async (t) => {
    const order: string[] = []
    const ended = signal()
    const held = hold(
      async () => {
        order.push('held')
        await ended.promise
        order.push('ended')
      },
      { maxAge: 60_000 },
    )
    const written = store
      .write((tx) => tx.accounts.putMetaOnce('a', 'written'))
      .then(() => order.push('written'))
    t.equal(await store.accounts.meta('a'), undefined, 'reading goes on')
    ended.resolve()
    await Promise.all([held, written])
    t.same(order, ['held', 'ended', 'written'])
  })

  await t.test('work that ages is told so and given up, and others write again', async (t) => {
    const told = signal()
    const never = new Promise<void>(() => undefined)
    const aging = hold(
      (aged) => {
        aged.addEventListener('abort', () => {
          told.resolve()
        })
        return never
      },
      { maxAge: 1 },
    )
    await t.rejects(aging, { code: 'unavailable' })
    await told.promise
    t.equal(await store.write((tx) => tx.accounts.putMetaOnce('b', 'kept')), 'kept')
  })
})

type Statement = Parameters<Query>

/** The client, noting every statement that a store runs through it. */
function noting(client: SqlClient, statements: Statement[]): SqlClient {
  const note =
    (query: Query): Query =>
    (sql, bind = []) => {
      statements.push([sql, bind])
      return query(sql, bind)
    }
  return {
    ...client,
    read: note(client.read),
    transaction: (work, options) => client.transaction((query) => work(note(query)), options),
    exclusive: (purpose, work) => client.exclusive(purpose, (statement) => work(note(statement))),
  }
}

await t.test('SQLite: finding due work walks the index of due work, never the table', async (t) => {
  const client = await openSqlite(newFile())
  t.teardown(() => client.close())
  const tables = nameTables('')
  await migrate(client, tables, coreSteps(tables))
  const statements: Statement[] = []
  const store = createSqlStore(noting(client, statements), tables)
  const queues = ['wh_1', 'wh_2'].map((webhook_id) => ({ webhook_id, limit: 5 }))
  const due = 'USING INDEX deliveries_due'
  const heads = [`SEARCH d ${due} (webhook_id=?)`, `SEARCH d ${due} (webhook_id=? AND retry=?)`]
  const acts: Readonly<Record<string, readonly [() => Promise<unknown>, readonly string[]]>> = {
    claim: [
      () => store.claim(sampleClaim(NOW, { queues })),
      [
        `SEARCH deliveries ${due} (webhook_id=? AND retry=? AND next_at<?)`,
        'SEARCH deliveries USING PRIMARY KEY (id=?)',
      ],
    ],
    'queues, named': [() => store.queueHeads(['wh_1']), heads],
    'queues, all': [
      () => store.queueHeads(),
      [`SEARCH d ${due}`, ...heads, `SEARCH d ${due} (webhook_id>?)`],
    ],
    // A partial index: it holds the live deliveries alone.
    recover: [() => store.recover(NOW), [`SCAN deliveries ${due}`]],
    disclaim: [
      () => store.disclaim(sampleClaim(NOW, { queues })(), NOW),
      [`SEARCH deliveries ${due} (webhook_id=? AND retry=? AND next_at=?)`],
    ],
  }
  for (const [title, [act, expected]] of Object.entries(acts)) {
    statements.length = 0
    await act()
    t.equal(statements.length, 1, `${title} is one statement`)
    const [[sql, bind] = ['']] = statements
    const plan = await client.read<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, bind)
    const visits = plan
      .map(({ detail }) => detail)
      .filter((detail) => /^(SCAN|SEARCH) (deliveries|d)\b/.test(detail))
    t.same(new Set(visits), new Set(expected), title)
  }
})
