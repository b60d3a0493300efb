import type pg from 'pg'
import type { Sequelize } from 'sequelize'
import type { Test } from 'tap'
import t from 'tap'
import { runCases } from '../../plugins/conformance.ts'
import type { Store } from '../../plugins/store/contract.ts'
import type { OrderedEvent } from '../../plugins/store/contract/events.ts'
import type { OpenTransaction, StoreHarness } from '../../plugins/store/conformance.ts'
import { storeCases } from '../../plugins/store/conformance.ts'
import {
  ACCOUNT,
  deliveryOf,
  insertWebhooks,
  outcomeOf,
  publishDeliveries,
  sampleAccount,
  sampleClaim,
  sampleDelivery,
  sampleWebhook,
  FEED,
} from '../../plugins/store/conformance/samples.ts'
import { openStore } from '../../plugins/store/open.ts'
import { nameTables } from '../../plugins/store/sql/tables.ts'
import { startPostgres } from '../support/postgres.ts'
import { beginOn, openOn, poolOn, sequelizeOn } from '../support/postgres-clients.ts'

const NOW = 1_800_000_000_000
const clock = { now: () => NOW }
const OTHER_PROCESS = new URL('../support/conformance/store-postgres.js', import.meta.url).href
const server = await startPostgres()
t.teardown(() => server.stop())

async function beginIn(sequelize: Sequelize): Promise<OpenTransaction> {
  const transaction = await sequelize.transaction()
  return {
    handle: transaction,
    commit: () => transaction.commit(),
    rollback: () => transaction.rollback(),
  }
}

/** Every store is the same tables, emptied; two of the names are of SQLite alone. */
async function empty(pool: pg.Pool): Promise<void> {
  const kept = new Set(['migrations', 'publishing', 'settling', 'processes', 'changes_head'])
  const filled = Object.values(nameTables('')).filter((table) => !kept.has(table))
  // One statement, at whose end references are checked: emptying files would take several times as long.
  const deletes = filled.map((table) => `of_${table} AS (DELETE FROM ${table})`)
  await pool.query(`WITH ${deletes.join(', ')} SELECT`)
}

interface Way {
  readonly database: unknown
  begin(): Promise<OpenTransaction>
}

const WAYS: Readonly<Record<string, (t: Test, url: string) => Way>> = {
  'a pool of pg': (t, url) => {
    const pool = poolOn(t, url)
    return { database: pool, begin: () => beginOn(pool) }
  },
  Sequelize: (t, url) => {
    const database = sequelizeOn(t, url)
    return { database, begin: () => beginIn(database) }
  },
}

for (const [name, make] of Object.entries(WAYS)) {
  await t.test(`PostgreSQL through ${name} keeps the contract of the store`, async (t) => {
    const url = await server.createDatabase()
    const pool = poolOn(t, url)
    const { database, begin } = make(t, url)
    await (await openStore(database, { tablePrefix: '' })).store.close()

    async function makeHarness(): Promise<StoreHarness> {
      await empty(pool)
      const opened: Store[] = []
      async function closeAll(): Promise<void> {
        for (const store of opened.splice(0)) await store.close()
      }
      async function open(): Promise<Store> {
        const { store } = await openStore(database, { tablePrefix: '' })
        opened.push(store)
        return store
      }
      return {
        clock,
        open,
        openPair: async () => [await open(), await open()],
        begin,
        async reopen(work) {
          await closeAll()
          await work()
          return open()
        },
        otherProcess: () => ({ module: OTHER_PROCESS, argument: url }),
        close: closeAll,
      }
    }

    const register = (title: string, run: () => Promise<void>): void => {
      void t.test(title, async (t) => {
        await run()
        t.pass('as the contract says')
      })
    }
    const able = ['join', 'overlap', 'watch', 'manyProcesses', 'concurrentReads', 'durable']
    const left = runCases(storeCases, makeHarness, register, able)
    t.same(left, [], 'no case is left out')
  })
}

async function readFeed(store: Store, after: string | null): Promise<readonly OrderedEvent[]> {
  return (await store.events.list({ ...FEED, after })).rows
}

const idsOf = (events: readonly OrderedEvent[]): readonly string[] => events.map(({ id }) => id)

const insertAccount = (store: Store, id: string): Promise<void> =>
  store.write((tx) => tx.accounts.insert(sampleAccount({ id })))

await t.test('PostgreSQL: a claim passes over what another transaction holds', async (t) => {
  const url = await server.createDatabase()
  // A claim that waited would fail, not hang.
  const store = await openOn(t, poolOn(t, url, { options: '-c lock_timeout=2s' }))
  await publishDeliveries(store, sampleDelivery('d1'), sampleDelivery('d2'), sampleDelivery('d3'))
  const client = await poolOn(t, url).connect()
  await client.query('BEGIN')
  await client.query(`SELECT id FROM deliveries WHERE id = 'd1' FOR UPDATE`)
  const queues = [{ webhook_id: 'wh_1', limit: 2 }]
  const claimed = await store.claim(sampleClaim(NOW, { queues }))
  t.same(
    claimed.map(({ delivery }) => delivery.id),
    ['d2', 'd3'],
  )
  await client.query('ROLLBACK')
  client.release()
  const [left] = await store.claim(sampleClaim(NOW, { queues }))
  t.equal(left?.delivery.id, 'd1')
})

await t.test(
  'PostgreSQL: outcomes wait for who deletes their webhook, not the other way',
  async (t) => {
    const pool = poolOn(t, await server.createDatabase())
    const store = await openOn(t, pool)
    await insertWebhooks(store, sampleWebhook('wh_1'))
    await publishDeliveries(store, sampleDelivery('d1'))
    const [claimed] = await store.claim(sampleClaim(NOW))
    if (claimed === undefined) throw new Error('nothing was claimed')
    const client = await pool.connect()
    await client.query('BEGIN')
    await client.query(`DELETE FROM webhooks WHERE id = 'wh_1'`)
    const settled = store.settle([outcomeOf(claimed.delivery, NOW)])
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'settled'`
    for (let tries = 0; tries < 200; tries += 1) {
      if ((await pool.query(waiting)).rows.length > 0) break
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    // Had the outcome taken the delivery already, each would wait for the other.
    const cancel = `UPDATE deliveries SET status = 'canceled', done_at = 1, claim = NULL WHERE id = 'd1'`
    await client.query('SET LOCAL lock_timeout = 500')
    t.equal((await client.query(cancel)).rowCount, 1)
    await client.query('COMMIT')
    client.release()
    t.same(await settled, [])
    t.match(await deliveryOf(store, 'd1'), { status: 'canceled', attempts: 0 })
  },
)

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
    t.same(await store.events.typeNames(ACCOUNT), ['a_b.x', 'aa.x', 'b.x'])
    const types = await store.events.types({ account_id: ACCOUNT, after: 'a_b.x', limit: 9 })
    t.same(
      types.rows.map(({ type }) => type),
      ['aa.x', 'b.x'],
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
  t.same(idsOf(await readFeed(store, kept.at(-1)?.cursor ?? null)), ['evt_d3'])
  t.same(idsOf(await readFeed(store, kept[0]?.cursor ?? null)), ['evt_d2', 'evt_d3'])
})

await t.test(
  'PostgreSQL: a place that could not have been given is told from one that was',
  async (t) => {
    const store = await openOn(t, await server.createDatabase())
    await publishDeliveries(store, sampleDelivery('d1'))
    const [event] = await readFeed(store, null)
    t.ok(store.events.isCursor(event?.cursor ?? ''))
    for (const forged of ['', '1', '1-2', '1-2-3-4', '1--3', `0-${'9'.repeat(20)}-1`, "0-1-1'"]) {
      t.notOk(store.events.isCursor(forged), forged)
    }
    t.same(await readFeed(store, `${'9'.repeat(9)}-${'9'.repeat(19)}-${'9'.repeat(18)}`), [])
  },
)
