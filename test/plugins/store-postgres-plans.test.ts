import t from 'tap'
import {
  ACCOUNT,
  FEED,
  insertWebhooks,
  outcomeOf,
  publishDeliveries,
  sampleClaim,
  sampleDelivery,
  sampleWebhook,
} from '../../plugins/store/conformance/samples.ts'
import { openStore } from '../../plugins/store/open.ts'
import { startPostgres } from '../support/postgres.ts'
import { poolOn } from '../support/postgres-clients.ts'

const NOW = 1_800_000_000_000
const EACH = 30_000
const ANY = { status: null, event_type: null, event_id: null, apps: null }
const server = await startPostgres()
t.teardown(() => server.stop())

/** As many deliveries that are done, and behind them as many that are due. */
const FILL = [
  `INSERT INTO events (account_id, id, type, created_at, body)
   SELECT 'acc_1', 'evt_' || n, 'order.paid', n, convert_to(repeat('x', 200), 'UTF8')
   FROM generate_series(1, ${2 * EACH}) AS n`,
  `INSERT INTO deliveries (id, account_id, webhook_id, event_id, event_type, status, attempts,
     automatic, cause, retry, next_at, created_at, done_at)
   SELECT 'dlv_' || n, 'acc_1', 'wh_1', 'evt_' || n, 'order.paid',
     CASE WHEN n > ${EACH} THEN 'pending' ELSE 'succeeded' END, 0, 0, 'event', 0,
     CASE WHEN n > ${EACH} THEN n END, n, CASE WHEN n > ${EACH} THEN NULL ELSE n END
   FROM generate_series(1, ${2 * EACH}) AS n`,
  `INSERT INTO attempts (delivery_id, number, cause, started_at, duration, status_code)
   SELECT 'dlv_' || n, 1, 'event', n, 1, 200 FROM generate_series(1, ${EACH}) AS n`,
]

await t.test(
  'PostgreSQL: no large table is read whole to send what is due, or a page',
  async (t) => {
    const url = await server.createDatabase()
    const pool = poolOn(t, url, { max: 1 })
    const open = async () => (await openStore(url, { tablePrefix: '' })).store
    // The first one makes the tables and their indexes.
    await (await open()).close()
    // What is known of a table changes what the server makes of a statement.
    for (const statement of [...FILL, 'ANALYZE']) await pool.query(statement)

    /** How often each was, once every other connection has told. */
    const readWhole = async (): Promise<unknown> => {
      const others = `SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`
      for (let tries = 0; tries < 200; tries += 1) {
        if ((await pool.query(others)).rows.length === 0) break
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      const { rows } = await pool.query(
        `SELECT relname, seq_scan FROM pg_stat_user_tables
       WHERE relname IN ('events', 'deliveries', 'attempts') ORDER BY relname`,
      )
      return rows
    }
    const before = await readWhole()
    const store = await open()
    await insertWebhooks(store, sampleWebhook('wh_1'))
    const queues = [{ webhook_id: 'wh_1', limit: 192 }]
    const claimed = await store.claim(sampleClaim(NOW, { queues }))
    t.equal(claimed.length, 192)
    await store.disclaim(sampleClaim(NOW, { queues, token: 'another' })(), NOW)
    await store.settle(claimed.map(({ delivery }) => outcomeOf(delivery, NOW)))
    await publishDeliveries(store, sampleDelivery('new'))
    t.match(await store.queueHeads(), [{ webhook_id: 'wh_1', first_due: EACH + 193 }])
    t.equal((await store.events.list(FEED)).rows.length, 100)
    const page = { ...ANY, webhook_id: 'wh_1', after: null, limit: 100 }
    t.equal((await store.deliveries.list({ ...page, account_id: ACCOUNT })).rows.length, 100)
    // Filters that match nothing look at the range of an index that ends after MOST_LOOKED_AT rows.
    for (const order of ['asc', 'desc'] as const) {
      for (const bodies of [true, false]) {
        const none = await store.events.list({ ...FEED, types: ['none'], order, bodies })
        t.match(none, { rows: [], more: true, next: String })
        for (const rare of [{ apps: ['none'] }, { since: 0, until: 1 }, { since: NOW }]) {
          const never = await store.events.list({ ...FEED, ...rare, order, bodies })
          t.match(never, { rows: [], more: true, next: String })
        }
      }
    }
    const listed = (filter: object) =>
      store.deliveries.list({ ...page, account_id: ACCOUNT, ...filter })
    t.match(await listed({ event_type: 'none' }), { rows: [], more: true, next: String })
    t.match(await listed({ status: 'exhausted' }), { rows: [], more: false })
    const span = { since: 0, until: NOW, apps: null, types: null, after: null }
    const failed = { ...span, account_id: ACCOUNT, webhook_id: 'wh_1' }
    t.same(await store.deliveries.countFailed(failed), { count: 0, next: null })
    await store.close()
    t.same(await readWhole(), before)
  },
)
