import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Sequelize, Transaction } from 'sequelize'
import sqlite3 from 'sqlite3'
import t from 'tap'
import type { ConformanceCase } from '../../plugins/conformance.ts'
import { runCases } from '../../plugins/conformance.ts'
import type { Store } from '../../plugins/store/contract.ts'
import type { OpenTransaction, StoreHarness } from '../../plugins/store/conformance.ts'
import { storeCases } from '../../plugins/store/conformance.ts'
import {
  ACCOUNT,
  deliveryOf,
  publicationOf,
  publishDeliveries,
  sampleAccount,
  sampleClaim,
  sampleDelivery,
} from '../../plugins/store/conformance/samples.ts'
import { createMemoryStore } from '../../plugins/store/memory.ts'
import { openSqliteStore, openStore } from '../../plugins/store/open.ts'
import type { Query, SqlClient } from '../../plugins/store/sql/client.ts'
import { MIGRATIONS, migrate } from '../../plugins/store/sql/migrate.ts'
import { openSqlite } from '../../plugins/store/sql/sqlite.ts'
import { createSqlStore } from '../../plugins/store/sql/store.ts'
import { nameTables } from '../../plugins/store/sql/tables.ts'

const NOW = 1_800_000_000_000
const clock = { now: () => NOW }
const root = await mkdtemp(join(tmpdir(), 'keyhook-store-'))
t.teardown(() => rm(root, { recursive: true, force: true }))

let files = 0
const newFile = (): string => join(root, `${files++}.sqlite`)

const template = newFile()
await (await openSqliteStore(template)).store.close()

async function memoryHarness(): Promise<StoreHarness> {
  return { clock, open: async () => createMemoryStore() }
}

/** Every store is a copy of one migrated file. */
async function sqliteHarness(): Promise<StoreHarness> {
  const opened = new Map<Store, string>()
  return {
    clock,
    async open() {
      const file = newFile()
      await copyFile(template, file)
      const { store } = await openSqliteStore(file)
      opened.set(store, file)
      return store
    },
    begin: (store) => beginOn(store, opened.get(store) ?? ''),
    async close() {
      for (const store of opened.keys()) await store.close()
    },
  }
}

/** A transaction on a connection of its own, in the writer's turn. */
async function beginOn(store: Store, file: string): Promise<OpenTransaction> {
  const database = new sqlite3.Database(file)
  const tell = (statement: string): Promise<void> =>
    new Promise((resolve, reject) => {
      database.exec(statement, (error) => (error === null ? resolve() : reject(error)))
    })
  const begun = signal()
  const ended = signal()
  const held = store.hold?.(
    async () => {
      await tell('BEGIN IMMEDIATE')
      begun.resolve()
      await ended.promise
    },
    { maxAge: 60_000 },
  )
  await begun.promise
  const endWith = (statement: string) => async () => {
    await tell(statement)
    ended.resolve()
    await held
    await new Promise((resolve) => database.close(resolve))
  }
  return { handle: database, commit: endWith('COMMIT'), rollback: endWith('ROLLBACK') }
}

function signal(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = (): void => undefined
  const promise = new Promise<void>((told) => {
    resolve = told
  })
  return { promise, resolve }
}

const NO_WATCH = 'no other process writes, and who commits a joined unit says so itself'

interface Suite {
  readonly makeHarness: () => Promise<StoreHarness>
  readonly capabilities: readonly string[]
  /** Why cases that require a capability mean nothing here. */
  readonly lacks: Readonly<Record<string, string>>
}

const SUITES: Readonly<Record<string, Suite>> = {
  memory: {
    makeHarness: memoryHarness,
    capabilities: [],
    lacks: {
      join: 'it is in no database that an embedder could have a transaction on',
      overlap: 'its units run one after another',
      watch: NO_WATCH,
    },
  },
  SQLite: {
    makeHarness: sqliteHarness,
    capabilities: ['join'],
    lacks: { overlap: 'a file has one writer at a time', watch: NO_WATCH },
  },
}

for (const [name, { makeHarness, capabilities, lacks }] of Object.entries(SUITES)) {
  await t.test(`${name} keeps the contract of the store`, async (t) => {
    const register = (title: string, run: () => Promise<void>): void => {
      void t.test(title, async (t) => {
        await run()
        t.pass('as the contract says')
      })
    }
    const left = runCases(storeCases, makeHarness, register, capabilities)
    const meaningless = storeCases.filter(({ requires = '' }) => requires in lacks)
    t.same(
      left,
      meaningless.map((one) => one.name),
      'no case is left out but for a reason',
    )
    const titles = storeCases.map((one) => one.name)
    t.equal(new Set(titles).size, titles.length, 'no two cases bear the same title')
  })
}

await t.test('the engine of the suites', async (t) => {
  const said: string[] = []
  type Harness = { readonly id: number; close(): Promise<void> }
  let made = 0
  const makeHarness = async (): Promise<Harness> => {
    const id = ++made
    return {
      id,
      async close() {
        said.push(`close ${id}`)
      },
    }
  }
  const fine = async ({ id }: Harness): Promise<void> => {
    said.push(`run ${id}`)
  }
  const cases: readonly ConformanceCase<Harness>[] = [
    { name: 'fine', run: fine },
    { name: 'faulty', run: () => Promise.reject(new Error('not as the contract says')) },
    { name: 'able', requires: 'manyProcesses', run: fine },
  ]

  await t.test('each case has a harness of its own, closed whatever comes of it', async (t) => {
    const runs: (() => Promise<void>)[] = []
    runCases(cases, makeHarness, (_, run) => runs.push(run))
    const results = await Promise.allSettled(runs.map((run) => run()))
    t.same(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    )
    t.same(said.sort(), ['close 1', 'close 2', 'run 1'])
  })

  await t.test('a case runs only for a capability that is claimed, else it is named', async (t) => {
    const titles: string[] = []
    const left = runCases(cases, makeHarness, (name) => titles.push(name))
    t.same([titles, left], [['fine', 'faulty'], ['able']])
    const able: string[] = []
    t.same(
      runCases(cases, makeHarness, (name) => able.push(name), ['manyProcesses']),
      [],
    )
    t.same(able, ['fine', 'faulty', 'able'])
  })
})

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
    MIGRATIONS.map(({ name }) => name),
  )
  await first.store.close()
  const second = await openSqliteStore(file)
  t.same(second.migrated, [])
  await second.store.close()
})

await t.test('SQLite: what was committed survives, and claims of the boot before', async (t) => {
  const file = newFile()
  const first = await openSqliteStore(file)
  await first.store.write((tx) => tx.accounts.insert(sampleAccount()))
  await publishDeliveries(first.store, sampleDelivery('d1'), sampleDelivery('d2'))
  const lanes = [{ webhook_id: 'wh_1', limit: 1 }]
  await first.store.claim(sampleClaim(NOW, { lanes }))
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
    t.equal(other.migrated.length, MIGRATIONS.length)
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
    exclusive: (purpose, work) => client.exclusive(purpose, (statement) => work(note(statement))),
  }
}

await t.test('SQLite: finding due work walks the index of due work, never the table', async (t) => {
  const client = await openSqlite(newFile())
  t.teardown(() => client.close())
  const tables = nameTables('')
  await migrate(client, tables)
  const statements: Statement[] = []
  const store = createSqlStore(noting(client, statements), tables)
  const lanes = ['wh_1', 'wh_2'].map((webhook_id) => ({ webhook_id, limit: 5 }))
  const due = 'USING INDEX deliveries_due'
  const heads = [`SEARCH d ${due} (webhook_id=?)`, `SEARCH d ${due} (webhook_id=? AND retry=?)`]
  const acts: Readonly<Record<string, readonly [() => Promise<unknown>, readonly string[]]>> = {
    claim: [
      () => store.claim(sampleClaim(NOW, { lanes })),
      [
        `SEARCH deliveries ${due} (webhook_id=? AND retry=? AND next_at<?)`,
        'SEARCH deliveries USING PRIMARY KEY (id=?)',
      ],
    ],
    'lanes, named': [() => store.lanes(['wh_1']), heads],
    'lanes, all': [
      () => store.lanes(),
      [`SEARCH d ${due}`, ...heads, `SEARCH d ${due} (webhook_id>?)`],
    ],
    // A partial index: it holds the live deliveries alone.
    recover: [() => store.recover(NOW), [`SCAN deliveries ${due}`]],
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
