import { join } from 'node:path'
import t from 'tap'
import { claimDeployment } from '../../plugins/store/conformance/deployment-samples.ts'
import { sampleDomainClaim } from '../../plugins/store/conformance/domain-samples.ts'
import {
  claimEdit,
  insertEdits,
  sampleEdit,
  sampleEditClaim,
} from '../../plugins/store/conformance/edit-samples.ts'
import {
  claimFile,
  insertFiles,
  sampleFile,
  sampleFileClaim,
} from '../../plugins/store/conformance/file-samples.ts'
import type { Query, SqlClient } from '../../plugins/store/sql/client.ts'
import { migrate } from '../../plugins/store/sql/migrate.ts'
import { openSqlite } from '../../plugins/store/sql/sqlite.ts'
import { createSqlStore } from '../../plugins/store/sql/store.ts'
import { nameTables } from '../../plugins/store/sql/tables.ts'
import { openOn, poolOn } from '../support/postgres-clients.ts'
import { startPostgres } from '../support/postgres.ts'

const NOW = 1_800_000_000_000
const server = await startPostgres()
t.teardown(() => server.stop())

await t.test(
  'PostgreSQL: a claim that the index of running edits refuses finds nothing, and its unit goes on',
  async (t) => {
    const pool = poolOn(t, await server.createDatabase())
    const store = await openOn(t, pool)
    await insertEdits(store, sampleEdit('edit_2'))
    const client = await pool.connect()
    await client.query('BEGIN')
    const running = sampleEdit('edit_1', { status: 'running' })
    await store.join?.(client).tx.edits.insert(running)
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
  const store = await openOn(t, poolOn(t, url, { options: '-c lock_timeout=2s' }))
  await insertEdits(
    store,
    sampleEdit('edit_1'),
    sampleEdit('edit_2'),
    sampleEdit('edit_3', { app_id: 'app_2' }),
  )
  await insertFiles(store, sampleFile('file_1'), sampleFile('file_2'))
  const client = await poolOn(t, url).connect()
  await client.query('BEGIN')
  const unit = store.join?.(client)
  t.equal((await unit?.tx.edits.claim(sampleEditClaim('a', NOW)))?.id, 'edit_1')
  t.equal((await unit?.tx.files.claim(sampleFileClaim('a', NOW)))?.id, 'file_1')
  t.equal((await claimEdit(store, 'b', NOW))?.id, 'edit_3')
  t.equal((await claimFile(store, 'b', NOW))?.id, 'file_2')
  t.equal(await claimEdit(store, 'c', NOW), undefined, 'not the next of the same app')
  t.equal(await claimFile(store, 'c', NOW), undefined)
  await client.query('ROLLBACK')
  client.release()
  t.equal((await claimEdit(store, 'd', NOW))?.id, 'edit_1')
  t.equal((await claimFile(store, 'd', NOW))?.id, 'file_1')
})

/** The client, noting the text and values of every statement of a unit. */
function noting(client: SqlClient, statements: Parameters<Query>[]): SqlClient {
  return {
    ...client,
    transaction: (work, options) =>
      client.transaction((query) => {
        const note: Query = (sql, bind = []) => {
          statements.push([sql, bind])
          return query(sql, bind)
        }
        return work(note)
      }, options),
  }
}

/** Tables that a claim makes for itself, of what the walks found. */
const MADE: ReadonlySet<string> = new Set(
  ['waiting', 'head', 'chosen', 'queued', 'ended'].map((name) => `SCAN ${name}`),
)

await t.test('SQLite: a claim walks what waits, never what ended', async (t) => {
  const client = await openSqlite(join(t.testdir(), 'keyhook.sqlite'))
  t.teardown(() => client.close())
  const tables = nameTables('')
  await migrate(client, tables)
  const statements: Parameters<Query>[] = []
  const store = createSqlStore(noting(client, statements), tables)
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
