import type pg from 'pg'
import type { Test } from 'tap'
import t from 'tap'
import type { Change } from '../../lib/engine/changes.ts'
import { LEASE } from '../../lib/engine/lease.ts'
import type { Store } from '../../plugins/store/contract.ts'
import {
  ACCOUNT,
  deliveryOf,
  insertWebhooks,
  publicationOf,
  publishDeliveries,
  sampleAccount,
  sampleClaim,
  sampleDelivery,
  sampleWebhook,
} from '../../plugins/store/conformance/samples.ts'
import { openPostgresStore, openStore } from '../../plugins/store/open.ts'
import { nameTables } from '../../plugins/store/sql/tables.ts'
import { coreSteps } from '../../plugins/store/sql/migrate.ts'
import { beginOn, nextNews, openOn, poolOn } from '../support/postgres-clients.ts'
import { startPostgres } from '../support/postgres.ts'

const NOW = 1_800_000_000_000
const server = await startPostgres()
t.teardown(() => server.stop())

const insertAccount = (store: Store, id: string): Promise<void> =>
  store.write((tx) => tx.accounts.insert(sampleAccount({ id })))

const suspend = (store: Store, suspended: boolean): Promise<boolean> =>
  store.write((tx) => tx.accounts.setSuspended(ACCOUNT, suspended, NOW))

/** Stores of as many processes on one new database. */
async function openProcesses(t: Test, count: number): Promise<{ pool: pg.Pool; stores: Store[] }> {
  const url = await server.createDatabase()
  const stores: Store[] = []
  for (let index = 0; index < count; index += 1) stores.push(await openOn(t, url))
  return { pool: poolOn(t, url), stores }
}

/** Connections that processes hear news on: those that listen have said so last. */
const cutOff = (pool: pg.Pool): Promise<unknown> =>
  pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database d ON d.oid = database
     WHERE locktype = 'advisory' AND mode = 'ShareLock' AND datname = current_database()`,
  )

await t.test('processes open one database at once, and each step is taken once', async (t) => {
  const url = await server.createDatabase()
  const pool = poolOn(t, url)
  const opened = await Promise.all(
    [pool, url, pool, url].map((database) => openStore(database, { tablePrefix: 'race_' })),
  )
  const steps = opened.flatMap(({ migrated }) => migrated)
  t.same(
    steps,
    coreSteps(nameTables('')).map(({ name }) => name),
  )
  for (const { store } of opened) await store.close()

  await t.test('stores with other prefixes share it, apart from each other', async (t) => {
    const [store, other] = [await openOn(t, pool, 'one_'), await openOn(t, pool, 'two_')]
    await insertAccount(store, ACCOUNT)
    t.equal(await other.accounts.get(ACCOUNT), undefined)
    const { rows } = await pool.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace`,
    )
    const strange = rows.filter(({ name }) => !/^(race|one|two)_/.test(name))
    t.same(strange, [])
  })

  await t.test('beside a process of version 0.1, which serves alone, none opens', async (t) => {
    const older = await pool.connect()
    const lock = `hashtextextended(current_schema() || ' keyhook_meta serving', 0)`
    await older.query(`SELECT pg_advisory_lock(${lock})`)
    await t.rejects(openPostgresStore(url), /older version serves this database alone/)
    await older.query(`SELECT pg_advisory_unlock(${lock})`)
    older.release()
    const { store } = await openPostgresStore(url)
    await store.close()
  })
})

await t.test('a later version may add to the schema while this one runs', async (t) => {
  const { pool, stores } = await openProcesses(t, 1)
  const [store] = stores
  if (store === undefined) throw new Error('no store was opened')
  for (const table of ['webhooks', 'deliveries', 'events', 'keys', 'accounts', 'attempts']) {
    await pool.query(`ALTER TABLE ${table} ADD COLUMN of_later TEXT`)
  }
  await pool.query(`INSERT INTO migrations (name, at) VALUES ('keys/9999-later', 0)`)
  await insertAccount(store, ACCOUNT)
  await insertWebhooks(store, sampleWebhook('wh_1'))
  await publishDeliveries(store, sampleDelivery('d1'))
  const [claimed] = await store.claim(sampleClaim(NOW))
  t.equal(claimed?.delivery.id, 'd1')
})

await t.test('a change is known to every process before whoever made it is answered', async (t) => {
  const { stores } = await openProcesses(t, 3)
  const [first, second, third] = stores as [Store, Store, Store]
  const heard: (Change | 'all')[][] = [[], [], []]
  for (const [index, { changes }] of stores.entries()) {
    changes.listen((change) => heard[index]?.push(change))
  }
  await insertAccount(first, ACCOUNT)
  t.same(heard, [[], [], []], 'what nobody keeps is told to nobody')
  for (const [round, store] of [first, second, third, first].entries()) {
    for (const one of heard) one.length = 0
    t.ok(await suspend(store, round % 2 === 0))
    for (const one of heard) t.match(one, [{ kind: 'account', id: ACCOUNT }])
  }

  await t.test('one that rolls back is told to nobody', async (t) => {
    for (const one of heard) one.length = 0
    const failing = first.write(async (tx) => {
      await tx.accounts.setSuspended(ACCOUNT, true, NOW)
      throw new Error('no')
    })
    await t.rejects(failing, /no/)
    t.ok(await suspend(second, true))
    for (const one of heard) t.equal(one.length > 0 && one.length < 3, true, 'only the next one')
  })

  await t.test('one that left is not waited for', async (t) => {
    await third.close()
    const began = performance.now()
    t.ok(await suspend(first, false))
    t.ok(performance.now() - began < LEASE / 2)
  })
})

await t.test('a process that is cut off', async (t) => {
  await t.test('joins again, forgets everything, and hears as before', async (t) => {
    const { pool, stores } = await openProcesses(t, 2)
    const [first, second] = stores as [Store, Store]
    await insertAccount(first, ACCOUNT)
    const forgot = new Promise<void>((resolve) => {
      second.changes.listen((change) => {
        if (change === 'all') resolve()
      })
    })
    const rejoined = nextNews(second)
    // Until its lease ends it goes by what it keeps, and whoever changes something waits for that.
    await pool.query(
      `UPDATE processes SET lease_until = clock_timestamp() - interval '1 hour'
       WHERE id = '${second.claimant}'`,
    )
    await cutOff(pool)
    await rejoined
    t.ok(second.changes.isCurrent())
    const heard: (Change | 'all')[] = []
    second.changes.listen((change) => heard.push(change))
    t.ok(await suspend(first, true))
    t.match(heard.at(-1), { kind: 'account', id: ACCOUNT })
    t.equal(await Promise.race([forgot.then(() => 'forgot'), Promise.resolve('kept')]), 'kept')
  })

  await t.test(
    'goes by nothing it keeps once its lease ended, and is waited for no longer',
    async (t) => {
      const url = await server.createDatabase()
      const first = await openOn(t, url)
      // Its pool gives no connection any more once the one it holds is gone.
      const pool = poolOn(t, url)
      const second = await openOn(t, pool)
      await insertAccount(first, ACCOUNT)
      t.ok(second.changes.isCurrent())
      const connect = pool.connect.bind(pool)
      pool.connect = (() => Promise.reject(new Error('cut off'))) as typeof pool.connect
      const admin = poolOn(t, url)
      await admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND query LIKE '%${second.claimant}%'
         AND pid <> pg_backend_pid()`,
      )
      const silent: string[] = []
      first.onSilence?.((processes) => silent.push(...processes))
      const began = performance.now()
      t.ok(await suspend(first, true))
      const took = performance.now() - began
      t.same(silent, [second.claimant], 'and is said to have said nothing')
      t.notOk(second.changes.isCurrent(), 'before the change was answered')
      t.ok(took < 2 * LEASE, `after ${took} ms`)
      await t.rejects(second.accounts.get(ACCOUNT), { code: 'unavailable' })
      pool.connect = connect as typeof pool.connect
      await nextNews(second)
      t.ok(second.changes.isCurrent())
      t.not((await second.accounts.get(ACCOUNT))?.suspended_at, null)
    },
  )
})

await t.test('a connection is listened to from its first statement to its last', async (t) => {
  const pool = poolOn(t, await server.createDatabase())
  const connect = pool.connect.bind(pool)
  const unheard: string[] = []
  pool.connect = (async () => {
    const client = await connect()
    const query = client.query.bind(client)
    client.query = ((statement: { readonly text: string }) => {
      // Whatever broke it now would end the process.
      if (client.listenerCount('error') === 0) unheard.push(statement.text)
      return query(statement)
    }) as typeof client.query
    return client
  }) as typeof pool.connect
  const { store } = await openStore(pool, { tablePrefix: '' })
  await insertAccount(store, ACCOUNT)
  await suspend(store, true)
  await store.claim(sampleClaim(NOW))
  await store.close()
  t.same(unheard, [])
})

await t.test('work that is announced is heard by the others alone', async (t) => {
  const { pool, stores } = await openProcesses(t, 3)
  const [first, second, third] = stores as [Store, Store, Store]
  const own: unknown[] = []
  first.watch?.((webhookIds) => own.push(webhookIds))
  const told = [nextNews(second), nextNews(third)]
  first.announce?.(['wh_1'])
  first.announce?.(['wh_2', 'wh_1'])
  t.same(await Promise.all(told), [
    ['wh_1', 'wh_2'],
    ['wh_1', 'wh_2'],
  ])
  t.same(own, [])

  await t.test('of too many queues none is named', async (t) => {
    const next = nextNews(second)
    first.announce?.(Array.from({ length: 2000 }, (_, index) => `wh_${index}`))
    t.equal(await next, undefined)
  })

  await t.test('what an embedder commits is heard by all', async (t) => {
    const all = stores.map(nextNews)
    const { handle, commit } = await beginOn(pool)
    await first.join?.(handle).tx.insertPublished([publicationOf(sampleDelivery('d1'))])
    await commit()
    t.same(await Promise.all(all), [undefined, undefined, undefined])
  })
})

await t.test('claims of a process that is gone', async (t) => {
  const { pool, stores } = await openProcesses(t, 3)
  const [first, second, third] = stores as [Store, Store, Store]
  const held = (id: string) =>
    sampleDelivery(id, {
      status: 'delivering',
      claim: `${third.claimant}.1`,
      next_at: NOW + 60_000,
    })
  await publishDeliveries(first, held('d1'))
  t.equal(await first.recover(NOW), 0, 'it is there')
  await third.close()
  // As a kill leaves it: its lease ended, and nobody said that it was given up.
  await pool.query(
    `INSERT INTO processes (id, joined_at, lease_until, applied)
     VALUES ($1, clock_timestamp(), clock_timestamp() - interval '10 seconds', 0)`,
    [third.claimant],
  )
  t.equal(await first.recover(NOW), 0, 'this one has not been here for long')
  await pool.query(`UPDATE processes SET joined_at = joined_at - interval '1 hour'`)
  const recovered = await Promise.all([first.recover(NOW), second.recover(NOW)])
  t.equal(recovered[0] + recovered[1], 1, 'are given back once, by either')
  t.same(await deliveryOf(first, 'd1'), sampleDelivery('d1', { next_at: NOW }))

  await t.test('are given back at once to the only one there is', async (t) => {
    await publishDeliveries(first, held('d2'))
    await second.close()
    t.equal(await first.recover(NOW), 1)
  })
})

await t.test('of claims that race none is handed out twice, and none is left', async (t) => {
  const { stores } = await openProcesses(t, 2)
  const [first] = stores as [Store]
  const ids = Array.from({ length: 400 }, (_, index) => `d${String(index).padStart(3, '0')}`)
  await publishDeliveries(first, ...ids.map((id) => sampleDelivery(id)))
  const claimed: string[] = []
  const worker = async (store: Store): Promise<void> => {
    const queues = [{ webhook_id: 'wh_1', limit: 7 }]
    for (let round = 0; round < ids.length; round += 1) {
      const token = `${store.claimant}.${round}`
      const got = await store.claim(sampleClaim(NOW, { queues, token }))
      claimed.push(...got.map(({ delivery }) => delivery.id))
      if (got.length === 0) return
    }
  }
  await Promise.all([...stores, ...stores].map(worker))
  t.same(claimed.toSorted(), ids)
})
