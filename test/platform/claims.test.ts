import { join } from 'node:path'
import t from 'tap'
import { claimDeployment } from './deployment-samples.ts'
import { claimDomain } from './domain-samples.ts'
import { claimEdit } from './edit-samples.ts'
import { claimFile } from './file-samples.ts'
import type { Query } from '../../plugins/store/sql/client.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import { openSqlite } from '../../plugins/store/sql/sqlite.ts'
import { noting } from './noting.ts'
import { migratePlatform, platformOver } from './over-client.ts'
import { startPostgres } from '../support/postgres.ts'

const NOW = 1_800_000_000_000
const server = await startPostgres()
t.teardown(() => server.stop())

const RUNNING = `INSERT INTO jobs (id, kind, app_id, account_id, queue, status, attempts, done)
  VALUES ($1, 'edit', 'app_1', 'acc_1', 'edit app_1', 'running', 1, 0)`

for (const database of ['SQLite', 'PostgreSQL'] as const) {
  await t.test(`${database}: no queue has two running jobs, whatever goes wrong`, async (t) => {
    const place =
      database === 'SQLite' ? join(t.testdir(), 'jobs.sqlite') : await server.createDatabase()
    const { store, client } = await openPlatformStore(place, { tablePrefix: '' })
    t.teardown(() => store.close())
    const insert = (id: string) => client.transaction((query) => query(RUNNING, [id]))
    await insert('edit_1')
    await t.rejects(insert('edit_2'), /UNIQUE|duplicate key/)
  })
}

/** Tables that a claim makes for itself, of what the walks found. */
const MADE: ReadonlySet<string> = new Set(
  ['waiting', 'head', 'due', 'ahead', 'candidate'].map((name) => `SCAN ${name}`),
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
    domains: () => claimDomain(store, 'a', NOW),
  }
  const walks = {
    edits: ['jobs_queue', 'jobs_queued', 'jobs_running'],
    files: ['jobs_queue', 'jobs_queued', 'jobs_running'],
    deployments: ['jobs_queue', 'jobs_queued', 'jobs_running'],
    domains: ['jobs_due', 'jobs_running'],
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
