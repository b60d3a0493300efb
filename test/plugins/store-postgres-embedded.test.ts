import t from 'tap'
import type { OrderedEvent } from '../../plugins/store/contract/events.ts'
import type { Store } from '../../plugins/store/contract.ts'
import {
  ACCOUNT,
  FEED,
  deliveryOf,
  publicationOf,
  publishDeliveries,
  sampleDelivery,
} from '../../plugins/store/conformance/samples.ts'
import { openStore } from '../../plugins/store/open.ts'
import { nextNews, openOn, poolOn, sequelizeOn } from '../support/postgres-clients.ts'
import { startPostgres } from '../support/postgres.ts'

const server = await startPostgres()
t.teardown(() => server.stop())

const readFeed = async (store: Store): Promise<readonly OrderedEvent[]> =>
  (await store.events.list({ ...FEED, after: null })).rows

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
    const ids = (await readFeed(store)).map(({ id }) => id)
    t.same(ids, ['evt_d1', 'evt_d2'])
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
  })

  await t.test('parsers of their own change nothing', async (t) => {
    const types = { getTypeParser: () => () => 'parsed by the embedder' }
    const store = await openOn(t, poolOn(t, url, { types }), 'parsed_')
    await publishDeliveries(store, sampleDelivery('d1'))
    t.same(await deliveryOf(store, 'd1'), sampleDelivery('d1'))
    const [event] = await readFeed(store)
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
