import { join } from 'node:path'
import t from 'tap'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { FIRST, insertSites, makeLive } from './deployment-samples.ts'
import { BORN } from '../../plugins/store/conformance/samples.ts'
import { sampleApp } from './app-samples.ts'
import type { Query, SqlClient } from '../../plugins/store/sql/client.ts'
import { PLATFORM_MIGRATIONS } from '../../plugins/platform/nouns.ts'
import { namePlatformTables } from '../../plugins/platform/sql/tables.ts'
import { openSqlite } from '../../plugins/store/sql/sqlite.ts'
import { migratePlatform, platformOver } from './over-client.ts'
import { nameTables } from '../../plugins/store/sql/tables.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import { startPostgres } from '../support/postgres.ts'

const server = await startPostgres()
t.teardown(() => server.stop())

/** Takes a database back to before its apps could be published. */
async function undo(client: SqlClient): Promise<void> {
  const t = { ...nameTables('keyhook_'), ...namePlatformTables('keyhook_') }
  await client.transaction(async (query) => {
    for (const table of [t.sites, t.deployments]) {
      await query(`DROP TABLE ${table}`)
    }
    await query(`DELETE FROM ${t.migrations} WHERE name LIKE '%deployments%'`)
  })
}

const PLACES = {
  SQLite: async (t: { testdir(): string }) => join(t.testdir(), 'keyhook.db'),
  PostgreSQL: () => server.createDatabase(),
}

for (const [name, placeOf] of Object.entries(PLACES)) {
  await t.test(`${name}: apps of before get a site, whose preview nobody guesses`, async (t) => {
    const place = await placeOf(t)
    const first = await openPlatformStore(place)
    const ids = Array.from({ length: 20 }, (_, index) => `app_${index}`)
    await first.store.write(async (tx) => {
      for (const id of ids) await tx.apps.insert(sampleApp(id))
    })
    await undo(first.client)
    await first.store.close()

    const { store, migrated } = await openPlatformStore(place)
    t.teardown(() => store.close())
    const steps = PLATFORM_MIGRATIONS.map((one) => one.name).filter((one) =>
      one.includes('deployments'),
    )
    t.same(migrated, steps)
    const standings = await store.deployments.siteStates(ids)
    t.equal(standings.length, ids.length)
    const previews = new Set(standings.map(({ preview }) => preview))
    t.equal(previews.size, ids.length)
    for (const preview of previews) t.match(preview, /^[a-z0-9]{24}$/)
    await makeLive(store, 'dep_1', FIRST, BORN, { app_id: 'app_7' })
    t.equal((await store.deployments.siteByAlias('app_7'))?.artifact, FIRST)
  })
}

await t.test('SQLite: a host, be it of nobody, is looked for by indexes alone', async (t) => {
  const client = await openSqlite(join(t.testdir(), 'keyhook.sqlite'))
  t.teardown(() => client.close())
  await migratePlatform(client)
  const asked: Parameters<Query>[] = []
  const read: Query = (sql, bind = []) => {
    asked.push([sql, bind])
    return client.read(sql, bind)
  }
  const store = await platformOver({ ...client, read })
  await insertSites(store, 'app_1')
  await makeLive(store, 'dep_1', FIRST, BORN)
  const looks: Readonly<
    Record<string, (deployments: PlatformStore['deployments']) => Promise<unknown>>
  > = {
    'an alias': (deployments) => deployments.siteByAlias('app_1'),
    nobody: (deployments) => deployments.siteByAlias('nobody'),
    'a preview': (deployments) => deployments.siteByPreview('nobody'),
    standings: (deployments) => deployments.siteStates(['app_1']),
    'what was before': (deployments) => deployments.before('app_1'),
    'what is kept': (deployments) => deployments.artifacts('app_1', 20),
    'what is live': (deployments) => deployments.live('app_1'),
  }
  for (const [title, look] of Object.entries(looks)) {
    asked.length = 0
    await look(store.deployments)
    t.ok(asked.length > 0, title)
    for (const [sql, bind] of asked) {
      const plan = await client.read<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, bind)
      const scanned = plan.filter(({ detail }) =>
        /^SCAN (?!past|one|json_each|\(|CONSTANT)/.test(detail),
      )
      t.same(scanned, [], title)
    }
  }
})
