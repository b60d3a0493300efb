import t from 'tap'
import {
  ACCOUNT,
  insertKeys,
  sampleKey,
  sampleSecret,
} from '../../plugins/store/conformance/samples.ts'
import { openStore } from '../../plugins/store/open.ts'
import { startPostgres } from '../support/postgres.ts'
import { poolOn } from '../support/postgres-clients.ts'

const NOW = 1_800_000_000_000
const ENDED = 20_000
const server = await startPostgres()
t.teardown(() => server.stop())

const root = sampleKey('key_root', {
  version: ENDED + 1,
  secrets: [sampleSecret('current', { version: ENDED + 1 })],
})

/** Keys that were revoked, that expired, and that ended with the one above them. */
const FILL = `INSERT INTO keys (id, account_id, parent_id, depth, name, scopes, pins, expires_at,
    revoked_at, created_by_type, created_at, updated_at, version, ends_at, line_revoked)
  SELECT 'key_' || n, '${ACCOUNT}', CASE WHEN n > 1 THEN '${root.id}' END, 1, 'CI', 'apps:read', NULL,
    CASE WHEN n % 3 = 0 THEN 5 END, CASE WHEN n % 3 = 1 THEN 5 END, 'user', 1, 1, 1, 5,
    CASE WHEN n % 3 = 0 THEN 0 ELSE 1 END
  FROM generate_series(1, ${ENDED}) AS n`

/** Values of the root that ended at once. */
const FILL_SECRETS = `INSERT INTO key_secrets (hash, key_id, version, display, created_at, not_after)
  SELECT 'ended ' || n, '${root.id}', n, 'CI', 9, 0 FROM generate_series(1, ${ENDED}) AS n`

await t.test(
  'PostgreSQL: what is done with keys reads few keys and values that ended',
  async (t) => {
    const url = await server.createDatabase()
    const pool = poolOn(t, url, { max: 1 })
    const open = async () => (await openStore(url, { tablePrefix: '' })).store
    const first = await open()
    await insertKeys(first, root, sampleKey('key_leaf', { parent_id: root.id, depth: 1 }))
    await first.close()
    for (const statement of [FILL, FILL_SECRETS, 'ANALYZE']) await pool.query(statement)

    /** Rows and entries of indexes that were read, once every other connection has told. */
    const readSoFar = async (): Promise<number> => {
      const others = `SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`
      for (let tries = 0; tries < 200; tries += 1) {
        if ((await pool.query(others)).rows.length === 0) break
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      // Its own counts, those of the rows that it filled in, it would tell later.
      await pool.query('SELECT pg_stat_force_next_flush()')
      const { rows } = await pool.query<{ read: string }>(
        `SELECT sum(read) AS read FROM (
         SELECT relname, seq_tup_read AS read FROM pg_stat_user_tables
         UNION ALL SELECT relname, idx_tup_read FROM pg_stat_user_indexes) all_reads
       WHERE relname IN ('keys', 'key_secrets')`,
      )
      return Number(rows[0]?.read)
    }
    const before = await readSoFar()
    const store = await open()
    const limit = { byDefault: 4, now: NOW }
    const insert = (id: string) =>
      store.write((tx) => tx.keys.insert(sampleKey(id, { parent_id: root.id, depth: 1 }), limit))
    t.same(
      [await insert('key_a'), await insert('key_b'), await insert('key_c')],
      [true, true, false],
    )
    const query = { account_id: ACCOUNT, limit: 20, after: null, within: null }
    const live = await store.keys.list({ ...query, live_at: NOW })
    t.same(
      live.rows.map(({ id }) => id),
      ['key_root', 'key_leaf', 'key_b', 'key_a'],
    )
    t.equal((await store.keys.list({ ...query, live_at: null })).rows.length, 20)
    t.equal((await store.keys.descendants(root.id, 100, NOW)).total, 4)
    t.equal((await store.keys.findChain('hash of key_leaf'))?.chain.length, 2)
    t.equal((await store.keys.findChain('current'))?.secret.not_after, null)
    t.equal((await store.keys.findChain('ended 7'))?.secret.not_after, 0)
    t.equal(await store.purge('key_secrets', 9, 100), 0)
    t.same(await store.webhooks.fromKey(ACCOUNT, root.id), [])
    await store.write(async ({ keys }) => {
      const secret = sampleSecret('newer', { version: ENDED + 2 })
      const rotation = { id: root.id, secret, previous_not_after: NOW + 50, now: NOW }
      t.equal(await keys.rotate(rotation), 'rotated')
      t.equal(await keys.update(root, { expires_at: NOW + 90 }, NOW), true)
      t.equal(await keys.revoke(root.id, NOW), true)
      t.equal(await keys.revoke('key_leaf', NOW + 5), true)
    })
    t.same((await store.keys.list({ ...query, live_at: NOW })).rows, [])
    await store.close()
    const read = (await readSoFar()) - before
    t.ok(read < 500, `${read} rows and entries were read`)
  },
)
