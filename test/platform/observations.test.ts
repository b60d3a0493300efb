import { join } from 'node:path'
import t from 'tap'
import type { TailQuery } from '../../plugins/platform/contract/observations.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import type { Query, SqlClient } from '../../plugins/store/sql/client.ts'
import { openSqlite } from '../../plugins/store/sql/sqlite.ts'
import { until } from '../support/daemon.ts'
import { poolOn } from '../support/postgres-clients.ts'
import { startPostgres } from '../support/postgres.ts'
import { ALL_LINES } from './observation-samples.ts'
import { migratePlatform, platformOver } from './over-client.ts'

/** The client, noting every statement that is read or runs by itself. */
function noting(client: SqlClient, statements: Parameters<Query>[]): SqlClient {
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

await t.test('SQLite: what is observed is found by an index, however much there is', async (t) => {
  const client = await openSqlite(join(t.testdir(), 'keyhook.sqlite'))
  t.teardown(() => client.close())
  await migratePlatform(client)
  const statements: Parameters<Query>[] = []
  const { observations, purge } = await platformOver(noting(client, statements))
  const byApp = 'SEARCH access_lines USING INDEX access_lines_by_app'
  const between = { ...ALL_LINES, since: 7, until: 9, after: 'line_9' }
  const tail = { app_id: 'app_1', kind: null, after: 7, limit: 9 } as const
  const byKind = 'SEARCH access_lines USING INDEX access_lines_by_kind'
  const afterOne = `${byKind} (app_id=? AND kind=? AND <expr>>?)`
  const reads: Readonly<Record<string, readonly [() => Promise<unknown>, RegExp | string]>> = {
    'all lines': [() => observations.lines(ALL_LINES), `${byApp} (app_id=?)`],
    lines: [() => observations.lines(between), `${byApp} (app_id=? AND id>? AND id<?)`],
    'filtered lines': [
      () => observations.lines({ ...between, path: '/' }),
      /SEARCH access_lines USING (COVERING )?INDEX access_lines_by_app \(app_id=\? AND id>\? AND id<\?\)/,
    ],
    'the newest lines': [() => observations.tail({ ...tail, after: null }), afterOne],
    'lines after one': [() => observations.tail(tail), afterOne],
    'lines of a kind': [() => observations.tail({ ...tail, kind: 'preview' }), afterOne],
    rate: [() => observations.rate('app_1', 'published', 7, 9), `${byApp} (app_id=? AND id>?)`],
    usage: [
      () => observations.usage('app_1', 'a', 'b'),
      'SEARCH app_usage USING PRIMARY KEY (app_id=? AND day>? AND day<?)',
    ],
    checks: [
      () => observations.checks('app_1', 2),
      /SEARCH app_checks USING (COVERING )?INDEX app_checks_by_app \(app_id=\?\)/,
    ],
    uptime: [
      () => observations.uptime('app_1', 7),
      /SEARCH app_checks USING (COVERING )?INDEX app_checks_by_app \(app_id=\? AND at>\?\)/,
    ],
    'probes that are due': [
      () => observations.dueProbes({ now: 7, furthest: 9 }, 3),
      /INDEX app_probes_by_time \(due_at<\?\)[^]*INDEX app_probes_by_time \(due_at>\?\)/,
    ],
    'old checks': [() => purge('checks', 7, 9), 'SEARCH app_checks USING PRIMARY KEY (at<?)'],
    'old problems': [
      () => purge('problems', 7, 9),
      /SEARCH problems USING (COVERING )?INDEX problems_by_age \(last_seen<\?\)/,
    ],
  }
  for (const [title, [read, expected]] of Object.entries(reads)) {
    statements.length = 0
    await read()
    t.equal(statements.length, title === 'filtered lines' ? 2 : 1, `${title}: its statements`)
    for (const [sql, bind] of statements) {
      const plan = await client.read<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, bind)
      const details = plan.map(({ detail }) => detail)
      t.match(details.join('\n'), expected, title)
      t.same(
        details.filter((detail) => /^SCAN (access_lines|app_|problems)/.test(detail)),
        [],
        `${title}: no walk over all`,
      )
    }
  }
})

const EACH = 30_000

/** Of two apps, each with lines of one kind alone. */
const FILL = [
  `INSERT INTO access_lines (id, app_id, kind, request_id, at, method, path, status, bytes, took_ms)
   SELECT 'line_' || n, 'app_' || n % 2, CASE n % 2 WHEN 1 THEN 'published' ELSE 'preview' END,
     'req_1', n, 'GET', '/', 200, 1, 1
   FROM generate_series(1, ${2 * EACH}) AS n`,
  // What is known of a table changes the plan of a statement.
  'ANALYZE',
]

await t.test('PostgreSQL: a tail reads the lines that it answers, and no others', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  const url = await server.createDatabase()
  const pool = poolOn(t, url, { max: 1 })
  const open = async () => (await openPlatformStore(url, { tablePrefix: '' })).store
  await (await open()).close()
  for (const statement of FILL) await pool.query(statement)

  /** Rows read so far, once every other connection has reported what it read. */
  const linesRead = async (): Promise<unknown> => {
    const others = `SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`
    await until('all are closed', async () => (await pool.query(others)).rows.length === 0)
    const { rows } = await pool.query<{ read: number }>(
      `SELECT (seq_tup_read + idx_tup_fetch)::int AS read FROM pg_stat_user_tables
       WHERE relname = 'access_lines'`,
    )
    return rows[0]?.read
  }
  const tail = { app_id: 'app_1', kind: null, after: 0, limit: 200 } as const
  const tails: readonly (readonly [TailQuery, number])[] = [
    [{ ...tail, kind: 'preview' }, 0],
    [{ ...tail, kind: 'preview', after: null, limit: 20 }, 0],
    [tail, 200],
    [{ ...tail, after: null, limit: 20 }, 20],
  ]
  for (const [query, count] of tails) {
    const before = Number(await linesRead())
    const store = await open()
    t.equal((await store.observations.tail(query)).length, count)
    await store.close()
    t.equal(await linesRead(), before + count, JSON.stringify(query))
  }
})
