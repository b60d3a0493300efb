import { join } from 'node:path'
import t from 'tap'
import { claimDeployment } from './deployment-samples.ts'
import { sampleDomainClaim } from './domain-samples.ts'
import { claimEdit, insertEdits, sampleEdit, sampleEditClaim } from './edit-samples.ts'
import { claimFile, insertFiles, sampleFile, sampleFileClaim } from './file-samples.ts'
import type { Query } from '../../plugins/store/sql/client.ts'
import { openSqlite } from '../../plugins/store/sql/sqlite.ts'
import { editWrites } from '../../plugins/platform/sql/edits.ts'
import { fileWrites } from '../../plugins/platform/sql/files.ts'
import { namePlatformTables } from '../../plugins/platform/sql/tables.ts'
import { createDialect } from '../../plugins/store/sql/postgres/dialect.ts'
import { noting } from './noting.ts'
import { migratePlatform, platformOver } from './over-client.ts'
import type pg from 'pg'
import { openPlatformOn, poolOn } from '../support/postgres-clients.ts'
import { startPostgres } from '../support/postgres.ts'

const NOW = 1_800_000_000_000
const server = await startPostgres()
t.teardown(() => server.stop())

/** The nouns on a connection whose transaction a test holds open. */
function writesOn(client: pg.PoolClient) {
  const query: Query = async <Row extends object>(sql: string, bind: readonly unknown[] = []) =>
    (await client.query(sql, [...bind])).rows as Row[]
  const [tables, dialect] = [namePlatformTables(''), createDialect()]
  return { edits: editWrites(query, tables, dialect), files: fileWrites(query, tables, dialect) }
}

await t.test(
  'PostgreSQL: a claim that the index of running edits refuses finds nothing, and its unit goes on',
  async (t) => {
    const pool = poolOn(t, await server.createDatabase())
    const store = await openPlatformOn(t, pool)
    await insertEdits(store, sampleEdit('edit_2'))
    const client = await pool.connect()
    await client.query('BEGIN')
    const running = sampleEdit('edit_1', { status: 'running' })
    await writesOn(client).edits.insert(running)
    const unit = store.write(async (tx) => {
      const claimed = await tx.edits.claim(sampleEditClaim('a', NOW))
      await tx.edits.log('edit_2', [{ at: NOW, stage: null, message: 'went on' }])
      return claimed
    })
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'
      AND query LIKE 'UPDATE edits%'`
    let seen = false
    for (let tries = 0; tries < 200 && !seen; tries += 1) {
      seen = (await pool.query(waiting)).rows.length > 0
      if (!seen) await new Promise((resolve) => setTimeout(resolve, 10))
    }
    t.ok(seen, 'it waits for who may have another running one')
    await client.query('COMMIT')
    client.release()
    t.equal(await unit, undefined)
    t.equal((await store.edits.lines('edit_2', 0, 9)).length, 1)
    t.same(
      (await store.edits.waiting('app_1')).map(({ id, status }) => [id, status]),
      [
        ['edit_1', 'running'],
        ['edit_2', 'queued'],
      ],
    )
  },
)

await t.test('PostgreSQL: a claim passes over what another transaction began', async (t) => {
  const url = await server.createDatabase()
  // A claim that waited would fail, not hang.
  const store = await openPlatformOn(t, poolOn(t, url, { options: '-c lock_timeout=2s' }))
  await insertEdits(
    store,
    sampleEdit('edit_1'),
    sampleEdit('edit_2'),
    sampleEdit('edit_3', { app_id: 'app_2' }),
  )
  await insertFiles(store, sampleFile('file_1'), sampleFile('file_2'))
  const client = await poolOn(t, url).connect()
  await client.query('BEGIN')
  const unit = writesOn(client)
  t.equal((await unit.edits.claim(sampleEditClaim('a', NOW)))?.id, 'edit_1')
  t.equal((await unit.files.claim(sampleFileClaim('a', NOW)))?.id, 'file_1')
  t.equal((await claimEdit(store, 'b', NOW))?.id, 'edit_3')
  t.equal((await claimFile(store, 'b', NOW))?.id, 'file_2')
  t.equal(await claimEdit(store, 'c', NOW), undefined, 'not the next of the same app')
  t.equal(await claimFile(store, 'c', NOW), undefined)
  await client.query('ROLLBACK')
  client.release()
  t.equal((await claimEdit(store, 'd', NOW))?.id, 'edit_1')
  t.equal((await claimFile(store, 'd', NOW))?.id, 'file_1')
})

/** Tables that a claim makes for itself, of what the walks found. */
const MADE: ReadonlySet<string> = new Set(
  ['waiting', 'head', 'chosen', 'queued', 'ended'].map((name) => `SCAN ${name}`),
)

await t.test('SQLite: a claim walks what waits, never what ended', async (t) => {
  const client = await openSqlite(join(t.testdir(), 'keyhook.sqlite'))
  t.teardown(() => client.close())
  await migratePlatform(client)
  const statements: Parameters<Query>[] = []
  const store = await platformOver(noting(client, statements))
  const claims = {
    edits: () => claimEdit(store, 'a', NOW),
    files: () => claimFile(store, 'a', NOW),
    deployments: () => claimDeployment(store, 'a', NOW),
    domains: () => store.write((tx) => tx.domains.claimDue(sampleDomainClaim('a', NOW))),
  }
  const walks = {
    edits: ['edits_running', 'edits_waiting', 'edits_waiting_by_app'],
    files: ['files_queued', 'files_processing'],
    deployments: ['deployments_open', 'deployments_under_way'],
    domains: ['domains_due'],
  }
  for (const table of ['edits', 'files', 'deployments', 'domains'] as const) {
    statements.length = 0
    await claims[table]()
    t.equal(statements.length, 1, 'one statement')
    const [[sql, bind] = ['']] = statements
    const plan = await client.read<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, bind)
    const used = plan.flatMap(({ detail }) => {
      const [, , index] = /^(SCAN|SEARCH) \S+ USING (?:COVERING )?INDEX (\S+)/.exec(detail) ?? []
      if (index !== undefined && !index.startsWith('sqlite_autoindex')) return [index]
      return detail.startsWith('SCAN') && !MADE.has(detail) ? [detail] : []
    })
    t.same([...new Set(used)].sort(), walks[table].sort(), table)
  }
})
