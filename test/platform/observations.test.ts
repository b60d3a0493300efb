import { join } from 'node:path'
import t from 'tap'
import { ALL_LINES } from './observation-samples.ts'
import type { Query, SqlClient } from '../../plugins/store/sql/client.ts'
import { openSqlite } from '../../plugins/store/sql/sqlite.ts'
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
  const byPosition = 'SEARCH access_lines USING INDEX access_lines_by_position'
  const reads: Readonly<Record<string, readonly [() => Promise<unknown>, RegExp | string]>> = {
    lines: [() => observations.lines(ALL_LINES), `${byApp} (app_id=? AND id>? AND id<?)`],
    'filtered lines': [
      () => observations.lines({ ...ALL_LINES, path: '/' }),
      /SEARCH access_lines USING (COVERING )?INDEX access_lines_by_app \(app_id=\? AND id>\? AND id<\?\)/,
    ],
    'the newest lines': [() => observations.tail('app_1', null, 9), `${byPosition} (app_id=?)`],
    'lines after one': [
      () => observations.tail('app_1', 7, 9),
      `${byPosition} (app_id=? AND position>?)`,
    ],
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
