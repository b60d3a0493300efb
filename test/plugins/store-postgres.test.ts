import pg from 'pg'
import { Sequelize } from 'sequelize'
import type { Test } from 'tap'
import t from 'tap'
import { runCases } from '../../plugins/conformance.ts'
import type { Store } from '../../plugins/store/contract.ts'
import type { PlacedEvent } from '../../plugins/store/contract/events.ts'
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
  FEED,
} from '../../plugins/store/conformance/samples.ts'
import { openPostgresStore, openStore } from '../../plugins/store/open.ts'
import { MIGRATIONS } from '../../plugins/store/sql/migrate.ts'
import type { PgSource } from '../../plugins/store/sql/postgres/source.ts'
import { fromPool, fromSequelize } from '../../plugins/store/sql/postgres/source.ts'
import { openPostgres } from '../../plugins/store/sql/postgres.ts'
import { createSqlStore } from '../../plugins/store/sql/store.ts'
import { nameTables } from '../../plugins/store/sql/tables.ts'
import { startPostgres } from '../support/postgres.ts'

const NOW = 1_800_000_000_000
const clock = { now: () => NOW }
const UNAVAILABLE = { code: 'unavailable' }
const server = await startPostgres()
t.teardown(() => server.stop())

/** An embedder's own pool, ended after the test. */
function poolOn(t: Test, url: string, options: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, ...options })
  pool.on('error', () => undefined)
  t.teardown(() => pool.end())
  return pool
}

function sequelizeOn(t: Test, url: string, most = 10): Sequelize {
  const sequelize = new Sequelize(url, {
    dialect: 'postgres',
    dialectModule: pg,
    logging: false,
    pool: { max: most },
  })
  t.teardown(() => sequelize.close())
  return sequelize
}

async function openOn(t: Test, database: unknown, tablePrefix = ''): Promise<Store> {
  const { store } = await openStore(database, { tablePrefix })
  t.teardown(() => store.close())
  return store
}

/** What is shared by every store of a process that holds no lock. */
const UNLOCKED = {
  assert: () => undefined,
  watch: () => () => undefined,
  end: async () => undefined,
}

function unlockedStore(source: PgSource): Store {
  const tables = nameTables('')
  return createSqlStore(openPostgres(source, tables, UNLOCKED), tables)
}

async function beginOn(pool: pg.Pool): Promise<OpenTransaction> {
  const client = await pool.connect()
  await client.query('BEGIN')
  const endWith = (statement: string) => async () => {
    await client.query(statement)
    client.release()
  }
  return { handle: client, commit: endWith('COMMIT'), rollback: endWith('ROLLBACK') }
}

async function beginIn(sequelize: Sequelize): Promise<OpenTransaction> {
  const transaction = await sequelize.transaction()
  return {
    handle: transaction,
    commit: () => transaction.commit(),
    rollback: () => transaction.rollback(),
  }
}

/** Every store is the same tables, emptied; two of the names are views of SQLite alone. */
async function empty(pool: pg.Pool): Promise<void> {
  const kept = new Set(['migrations', 'publishing', 'settling'])
  const filled = Object.values(nameTables('')).filter((table) => !kept.has(table))
  // One statement, at whose end references are checked: emptying files would take several times as long.
  const deletes = filled.map((table) => `of_${table} AS (DELETE FROM ${table})`)
  await pool.query(`WITH ${deletes.join(', ')} SELECT`)
}

interface Way {
  readonly database: unknown
  readonly source: PgSource
  begin(): Promise<OpenTransaction>
}

const WAYS: Readonly<Record<string, (t: Test, url: string) => Way>> = {
  'a pool of pg': (t, url) => {
    const pool = poolOn(t, url)
    return { database: pool, source: fromPool(pool), begin: () => beginOn(pool) }
  },
  Sequelize: (t, url) => {
    const database = sequelizeOn(t, url)
    return { database, source: fromSequelize(database), begin: () => beginIn(database) }
  },
}

for (const [name, make] of Object.entries(WAYS)) {
  await t.test(`PostgreSQL through ${name} keeps the contract of the store`, async (t) => {
    const url = await server.createDatabase()
    const pool = poolOn(t, url)
    const { database, source, begin } = make(t, url)
    await (await openStore(database, { tablePrefix: '' })).store.close()

    async function makeHarness(): Promise<StoreHarness> {
      await empty(pool)
      const opened: Store[] = []
      async function open(): Promise<Store> {
        const { store } = await openStore(database, { tablePrefix: '' })
        opened.push(store)
        return store
      }
      return {
        clock,
        open,
        // The second holds no lock, as a process that lost it and does not know yet.
        openPair: async () => [await open(), unlockedStore(source)],
        begin,
        async close() {
          for (const store of opened) await store.close()
        },
      }
    }

    const register = (title: string, run: () => Promise<void>): void => {
      void t.test(title, async (t) => {
        await run()
        t.pass('as the contract says')
      })
    }
    const left = runCases(storeCases, makeHarness, register, ['join', 'overlap', 'watch'])
    t.same(left, [], 'no case is left out')
  })
}

async function readFeed(store: Store, after: string | null): Promise<readonly PlacedEvent[]> {
  return (await store.events.list({ ...FEED, after })).rows
}

const idsOf = (events: readonly PlacedEvent[]): readonly string[] => events.map(({ id }) => id)

const insertAccount = (store: Store, id: string): Promise<void> =>
  store.write((tx) => tx.accounts.insert(sampleAccount({ id })))

/** Resolves at the next call of a store's watch. */
function nextNews(store: Store): Promise<void> {
  return new Promise((resolve) => {
    const end = store.watch?.(() => {
      end?.()
      resolve()
    })
  })
}

/** The backend that holds the lock of serving: the only one that holds an advisory lock at rest. */
const HOLDER = `SELECT pid FROM pg_locks JOIN pg_database d ON d.oid = database
  WHERE locktype = 'advisory' AND granted AND d.datname = current_database()`

const endHolder = (pool: pg.Pool): Promise<unknown> =>
  pool.query(`SELECT pg_terminate_backend(pid) FROM (${HOLDER}) holder`)

await t.test('PostgreSQL: one process serves a database', async (t) => {
  const url = await server.createDatabase()
  const pool = poolOn(t, url)

  await t.test('a second opening is refused, until the first is closed', async (t) => {
    const first = await openPostgresStore(pool, {})
    t.same(
      first.migrated,
      MIGRATIONS.map(({ name }) => name),
    )
    await t.rejects(openPostgresStore(pool, {}), /another process serves this database/)
    await t.rejects(openPostgresStore(url, {}), /another process serves this database/)
    await first.store.close()
    const second = await openPostgresStore(pool, {})
    t.same(second.migrated, [], 'nothing is left to migrate')
    await second.store.close()
  })

  await t.test('of openings that race one wins, and each step is taken once', async (t) => {
    const options = { tablePrefix: 'race_' }
    const openings = await Promise.allSettled(
      [pool, url, pool, url].map((database) => openStore(database, options)),
    )
    const opened = openings.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    t.same(
      opened.map(({ migrated }) => migrated.length),
      [MIGRATIONS.length],
    )
    for (const { store } of opened) await store.close()
  })

  await t.test('stores with other prefixes share it, apart from each other', async (t) => {
    const store = await openOn(t, pool, 'one_')
    const other = await openOn(t, pool, 'two_')
    await insertAccount(store, ACCOUNT)
    t.equal(await other.accounts.get(ACCOUNT), undefined)
    const { rows } = await pool.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace`,
    )
    const strange = rows.filter(({ name }) => !/^(keyhook|race|one|two)_/.test(name))
    t.same(strange, [])
  })
})

await t.test('PostgreSQL: the connection that holds the lock breaks', async (t) => {
  await t.test('another takes its place, whoever watches is called, and hears again', async (t) => {
    const pool = poolOn(t, await server.createDatabase())
    const store = await openOn(t, pool)
    const regained = nextNews(store)
    await endHolder(pool)
    await regained
    await insertAccount(store, ACCOUNT)
    await t.rejects(openStore(pool, { tablePrefix: '' }), /another process/, 'the lock is back')
    const told = nextNews(store)
    const { handle, commit } = await beginOn(pool)
    await store.join?.(handle).tx.insertPublished([publicationOf(sampleDelivery('d1'))])
    await commit()
    await told
    t.same(idsOf(await readFeed(store, null)), ['evt_d1'])
  })

  await t.test('while another session holds the lock every write is unavailable', async (t) => {
    const pool = poolOn(t, await server.createDatabase())
    const store = await openOn(t, pool)
    await insertAccount(store, 'acc_before')
    const rival = await pool.connect()
    // Waits in the queue of the lock, so that it is the next to have it.
    const { rows } = await pool.query<{ key: string }>(
      `SELECT (classid::bigint << 32 | objid::bigint)::text AS key FROM pg_locks
       WHERE locktype = 'advisory' AND granted AND pid IN (${HOLDER})`,
    )
    const taken = rival.query('SELECT pg_advisory_lock($1)', [rows[0]?.key])
    await endHolder(pool)
    await taken
    await t.rejects(insertAccount(store, 'acc_1'), UNAVAILABLE)
    await t.rejects(
      store.publish(() => [publicationOf(sampleDelivery('d1'))]),
      UNAVAILABLE,
    )
    await t.rejects(
      store.accounts.get('acc_before'),
      UNAVAILABLE,
      'nor is anything read: it may be stale',
    )
    const regained = nextNews(store)
    rival.release(true)
    await regained
    await insertAccount(store, 'acc_1')
  })

  await t.test('had another served meanwhile, this one never writes again', async (t) => {
    const pool = poolOn(t, await server.createDatabase())
    const store = await openOn(t, pool)
    await pool.query(`UPDATE meta SET value = 'another' WHERE name = 'served_by'`)
    let calls = 0
    store.watch?.(() => calls++)
    // The holder's, and that of the one that came in its place.
    const closed = new Promise<void>((resolve) => {
      let removed = 0
      pool.on('remove', () => {
        if (++removed === 2) resolve()
      })
    })
    await endHolder(pool)
    await closed
    await t.rejects(insertAccount(store, ACCOUNT), UNAVAILABLE)
    t.equal(calls, 0)
    const successor = await openOn(t, pool)
    await insertAccount(successor, ACCOUNT)
    await t.rejects(insertAccount(store, 'acc_2'), UNAVAILABLE)
  })
})

await t.test('PostgreSQL: a claim passes over what another transaction holds', async (t) => {
  const url = await server.createDatabase()
  // A claim that waited would fail, not hang.
  const store = await openOn(t, poolOn(t, url, { options: '-c lock_timeout=2s' }))
  await publishDeliveries(store, sampleDelivery('d1'), sampleDelivery('d2'), sampleDelivery('d3'))
  const client = await poolOn(t, url).connect()
  await client.query('BEGIN')
  await client.query(`SELECT id FROM deliveries WHERE id = 'd1' FOR UPDATE`)
  const lanes = [{ webhook_id: 'wh_1', limit: 2 }]
  const claimed = await store.claim(sampleClaim(NOW, { lanes }))
  t.same(
    claimed.map(({ delivery }) => delivery.id),
    ['d2', 'd3'],
  )
  await client.query('ROLLBACK')
  client.release()
  const [left] = await store.claim(sampleClaim(NOW, { lanes }))
  t.equal(left?.delivery.id, 'd1')
})

await t.test('PostgreSQL: faults', async (t) => {
  const pool = poolOn(t, await server.createDatabase())
  const store = await openOn(t, pool)

  await t.test(
    'a connection that is lost in a unit is unavailable, and nothing is kept',
    async (t) => {
      const failing = store.write(async (tx) => {
        await tx.accounts.insert(sampleAccount({ id: 'acc_lost' }))
        await pool.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE state = 'idle in transaction' AND datname = current_database()`,
        )
        await tx.accounts.get('acc_lost')
      })
      await t.rejects(failing, UNAVAILABLE)
      t.equal(await store.accounts.get('acc_lost'), undefined)
      await insertAccount(store, 'acc_next')
    },
  )

  await t.test('a commit whose answer is lost is unavailable, whatever came of it', async (t) => {
    const source = fromPool(pool)
    const losing: PgSource = {
      ...source,
      async borrow() {
        const { client, giveBack } = await source.borrow()
        const lossy = Object.create(client, {
          query: {
            async value(statement: { text: string }) {
              const answer: unknown = await client.query(statement)
              if (statement.text === 'COMMIT') throw new Error('Connection terminated')
              return answer
            },
          },
        }) as typeof client
        return { client: lossy, giveBack }
      },
    }
    let ran = 0
    const failing = unlockedStore(losing).write(async (tx) => {
      tx.afterCommit(() => ran++)
      await tx.accounts.insert(sampleAccount({ id: 'acc_unknown' }))
    })
    await t.rejects(failing, UNAVAILABLE)
    t.equal(ran, 0)
    t.notSame(await store.accounts.get('acc_unknown'), undefined)
  })

  await t.test('a deadlock is unavailable; who is left goes on', async (t) => {
    await insertAccount(store, 'acc_a')
    await insertAccount(store, 'acc_b')
    const touch = (id: string) => `UPDATE accounts SET name = 'x' WHERE id = '${id}'`
    const client = await pool.connect()
    await client.query('BEGIN')
    await client.query(touch('acc_b'))
    let crossed: Promise<unknown> = Promise.resolve()
    const unit = store.write(async (tx) => {
      await tx.accounts.setPlan('acc_a', 'pro', NOW)
      crossed = client.query(touch('acc_a')).catch((cause: unknown) => cause)
      await tx.accounts.setPlan('acc_b', 'pro', NOW)
    })
    const [result] = await Promise.allSettled([unit])
    const other = await crossed
    await client.query('ROLLBACK')
    client.release()
    const isOurs = result.status === 'rejected'
    if (isOurs) t.match(result.reason, UNAVAILABLE)
    else t.match(other, { code: '40P01' })
    await store.ping()
  })

  await t.test('a statement’s own fault passes through', async (t) => {
    await t.rejects(insertAccount(store, 'acc_next'), { code: '23505' })
  })

  await t.test('a unit that hides the fault of a statement commits nothing', async (t) => {
    const failing = store.write(async (tx) => {
      await tx.accounts.insert(sampleAccount({ id: 'acc_hidden' }))
      await tx.accounts.insert(sampleAccount({ id: 'acc_hidden' })).catch(() => undefined)
    })
    await t.rejects(failing, /had failed/)
    t.equal(await store.accounts.get('acc_hidden'), undefined)
  })
})

await t.test('PostgreSQL: an embedder’s own connections', async (t) => {
  const url = await server.createDatabase()
  const pool = poolOn(t, url)

  await t.test('rows of both commit together, and roll back together', async (t) => {
    const store = await openOn(t, pool, 'own_')
    await pool.query('CREATE TABLE orders (id TEXT)')
    const client = await pool.connect()
    t.teardown(() => client.release())
    for (const end of ['ROLLBACK', 'COMMIT']) {
      await client.query('BEGIN')
      await client.query(`INSERT INTO orders VALUES ('${end}')`)
      const unit = store.join?.(client)
      await unit?.tx.insertPublished([publicationOf(sampleDelivery(`d_${end}`))])
      await client.query(end)
    }
    const { rows } = await pool.query('SELECT id FROM orders')
    t.same(rows, [{ id: 'COMMIT' }])
    t.equal(await deliveryOf(store, 'd_ROLLBACK'), undefined)
    t.same(await deliveryOf(store, 'd_COMMIT'), sampleDelivery('d_COMMIT'))
  })

  await t.test('every transaction of one connection is told of', async (t) => {
    const store = await openOn(t, pool, 'again_')
    const client = await pool.connect()
    t.teardown(() => client.release())
    const unit = store.join?.(client)
    for (const id of ['d1', 'd2']) {
      const told = nextNews(store)
      await client.query('BEGIN')
      await unit?.tx.insertPublished([publicationOf(sampleDelivery(id))])
      await client.query('COMMIT')
      await told
    }
    t.same(idsOf(await readFeed(store, null)), ['evt_d1', 'evt_d2'])
  })

  await t.test('a connection in no transaction, or a pool, joins nothing', async (t) => {
    const store = await openOn(t, pool, 'none_')
    const client = await pool.connect()
    t.teardown(() => client.release())
    const publication = publicationOf(sampleDelivery('d1'))
    await t.rejects(async () => store.join?.(client).tx.insertPublished([publication]), TypeError)
    t.equal(await store.events.get(ACCOUNT, 'evt_d1'), undefined)
    t.throws(() => store.join?.(pool), TypeError)
    const sequelize = sequelizeOn(t, url)
    t.throws(() => store.join?.(sequelize), TypeError)
    const ended = await sequelize.transaction()
    await ended.commit()
    t.throws(() => store.join?.(ended), TypeError)
  })

  await t.test('are left open when the store is closed, and whole', async (t) => {
    const sequelize = sequelizeOn(t, url)
    for (const database of [pool, sequelize]) {
      const { store } = await openStore(database, { tablePrefix: 'left_' })
      await store.close()
    }
    t.equal((await pool.query('SELECT 1 AS one')).rows.length, 1)
    t.same((await sequelize.query('SELECT 1 AS one'))[0], [{ one: 1 }])
    const { rows } = await pool.query(HOLDER)
    t.same(rows, [], 'nobody holds the lock')
  })

  await t.test('parsers of their own change nothing', async (t) => {
    const types = { getTypeParser: () => () => 'parsed by the embedder' }
    const store = await openOn(t, poolOn(t, url, { types }), 'parsed_')
    await publishDeliveries(store, sampleDelivery('d1'))
    t.same(await deliveryOf(store, 'd1'), sampleDelivery('d1'))
    const [event] = await readFeed(store, null)
    t.same(
      event && Buffer.from(event.body),
      Buffer.from(publicationOf(sampleDelivery('d1')).event.body),
    )
  })

  await t.test('a pool that is too small, and what is no database, are refused', async (t) => {
    await t.rejects(openStore(poolOn(t, url, { max: 2 })), TypeError)
    await t.rejects(openStore(sequelizeOn(t, url, 2)), TypeError)
    for (const database of [undefined, null, 5, {}, { connect: true }]) {
      await t.rejects(openStore(database), TypeError)
    }
  })
})

await t.test(
  'PostgreSQL: identifiers compare bytewise, whatever the database sorts by',
  async (t) => {
    const store = await openOn(t, await server.createDatabase())
    for (const id of ['a', 'B', 'b', 'A']) await insertAccount(store, id)
    const page = await store.accounts.list({ limit: 2, after: 'b' })
    t.same(
      page.rows.map(({ id }) => id),
      ['a', 'B'],
    )
    await store.write(async (tx) => {
      for (const type of ['b.x', 'a_b.x', 'aa.x']) {
        const declared = {
          account_id: ACCOUNT,
          type,
          description: null,
          schema: null,
          sample: null,
        }
        await tx.events.putType({ ...declared, created_at: NOW, updated_at: NOW })
      }
    })
    const types = await store.events.types(ACCOUNT)
    t.same(
      types.map(({ type }) => type),
      ['a_b.x', 'aa.x', 'b.x'],
    )
  },
)

await t.test('PostgreSQL: readers of the feed go on after a move to another cluster', async (t) => {
  const pool = poolOn(t, await server.createDatabase())
  const before = await openStore(pool, { tablePrefix: '' })
  await publishDeliveries(before.store, sampleDelivery('d1'), sampleDelivery('d2'))
  await before.store.close()
  // As a dump of a cluster that had counted far beyond this one, restored here.
  await pool.query(`UPDATE events SET xact = '900000000000'`)
  await pool.query(`UPDATE meta SET value = '1' WHERE name = 'feed_cluster'`)
  const store = await openOn(t, pool)
  const kept = await readFeed(store, null)
  t.same(idsOf(kept), ['evt_d1', 'evt_d2'])
  await publishDeliveries(store, sampleDelivery('d3'))
  t.same(idsOf(await readFeed(store, kept.at(-1)?.place ?? null)), ['evt_d3'])
  t.same(idsOf(await readFeed(store, kept[0]?.place ?? null)), ['evt_d2', 'evt_d3'])
})

await t.test(
  'PostgreSQL: a place that could not have been given is told from one that was',
  async (t) => {
    const store = await openOn(t, await server.createDatabase())
    await publishDeliveries(store, sampleDelivery('d1'))
    const [event] = await readFeed(store, null)
    t.ok(store.events.isPlace(event?.place ?? ''))
    for (const forged of ['', '1', '1-2', '1-2-3-4', '1--3', `0-${'9'.repeat(20)}-1`, "0-1-1'"]) {
      t.notOk(store.events.isPlace(forged), forged)
    }
    t.same(await readFeed(store, `${'9'.repeat(9)}-${'9'.repeat(19)}-${'9'.repeat(18)}`), [])
  },
)

await t.test(
  'an id that an open transaction holds refuses itself in time, and nobody else',
  async (t) => {
    const pool = poolOn(t, await server.createDatabase())
    const store = await openOn(t, pool)
    const { event, deliveries } = publicationOf(sampleDelivery('d1'))
    const twin = { event: { ...event, supplied: true }, deliveries }
    const client = await pool.connect()
    await client.query('BEGIN')
    await store.join?.(client).tx.insertPublished([twin])
    await t.rejects(
      store.publish(() => [twin]),
      /an open transaction holds the id/,
    )
    await insertAccount(store, 'acc_1')
    t.notSame(await store.accounts.get('acc_1'), undefined)
    await client.query('ROLLBACK')
    client.release()
    t.same(await store.publish(() => [twin]), ['stored'])
  },
)
