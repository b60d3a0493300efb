import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { ColumnType } from '../../plugins/store/sql/columns.ts'
import { MODELS, OF_APP } from '../../plugins/platform/models.ts'
import { PLATFORM_MIGRATIONS } from '../../plugins/platform/nouns.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import type { SqlClient } from '../../plugins/store/sql/client.ts'
import { startPostgres } from '../support/postgres.ts'

/** A column as the database describes it. */
interface Described {
  readonly name: string
  readonly type: string
  readonly nullable: boolean
}

const TYPES: Readonly<Record<'sqlite' | 'postgres', Readonly<Record<ColumnType, string>>>> = {
  sqlite: {
    id: 'TEXT',
    text: 'TEXT',
    smallint: 'SMALLINT',
    integer: 'INTEGER',
    bigint: 'BIGINT',
    serial: 'INTEGER',
    bytes: 'BLOB',
  },
  postgres: {
    id: 'text collate C',
    text: 'text',
    smallint: 'smallint',
    integer: 'integer',
    bigint: 'bigint',
    serial: 'bigint',
    bytes: 'bytea',
  },
}

async function describe(
  { dialect, read }: SqlClient,
  table: string,
): Promise<readonly Described[]> {
  const rows =
    dialect.name === 'sqlite'
      ? await read(
          `SELECT name, type, CASE WHEN "notnull" = 1 OR pk > 0 THEN 0 ELSE 1 END AS nullable
           FROM pragma_table_info($1)`,
          [table],
        )
      : await read(
          `SELECT column_name AS name, CASE WHEN is_nullable = 'YES' THEN 1 ELSE 0 END AS nullable,
             data_type || COALESCE(' collate ' || collation_name, '') AS type
           FROM information_schema.columns
           WHERE table_schema = 'public' AND table_name = $1`,
          [table],
        )
  return rows.map((row) => ({
    name: String(row['name']),
    type: String(row['type']),
    nullable: Number(row['nullable']) === 1,
  }))
}

async function compare(t: Test, place: string): Promise<void> {
  const { store, client } = await openPlatformStore(place, { tablePrefix: '' })
  try {
    for (const { table, schema } of MODELS) {
      const declared = [...schema].map(([name, { type, nullable }]) => ({
        name,
        type: TYPES[client.dialect.name][type],
        nullable,
      }))
      const byName = (a: Described, b: Described): number => (a.name < b.name ? -1 : 1)
      const found = (await describe(client, table)).toSorted(byName)
      t.same(found, declared.toSorted(byName), table)
    }
  } finally {
    await store.close()
  }
}

/** The steps that were released, in their order: databases have run them, so none moves. */
const RELEASED = [
  'apps/0001-apps-revisions',
  'apps/0002-left-aliases',
  'bytes/0001-app-bytes',
  'edits/0001-edits-lines',
  'edits/0002-knowledge',
  'files/0001-files-chunks',
  'files/0002-vectors',
  'files/0003-queued',
  'files/0004-removed',
  'deployments/0001-deployments-lines-sites',
  'deployments/0002-poised',
  'deployments/0003-retire-earlier',
  'deployments/0004-ended',
  'settings/0001-domains-services-sign-in',
  'observations/0001-lines-usage-problems-checks',
  'observations/0002-probes-by-time',
  'observations/0003-lines-by-kind',
  'jobs/0001-jobs-lines',
  'jobs/0002-files',
  'jobs/0003-domain-checks',
  'jobs/0004-edits',
  'jobs/0005-deployments',
]

await t.test('released steps keep their names and their order', async (t) => {
  const names = PLATFORM_MIGRATIONS.map(({ name }) => name)
  t.same(
    names.filter((name) => RELEASED.includes(name)),
    RELEASED,
  )
  t.equal(new Set(names).size, names.length)
})

await t.test(
  'rows of an app are deleted with it, unless code of their own does or they are kept',
  async (t) => {
    for (const { table, schema } of OF_APP) t.ok(schema.has('app_id'), table)
    const others = MODELS.filter((model) => !OF_APP.some((one) => one === model))
    t.same(
      others.filter(({ schema }) => schema.has('app_id')).map(({ table }) => table),
      ['files', 'holds', 'hosting_charges', 'ledger_transactions', 'usage_days', 'agent_tasks'],
    )
  },
)

await t.test('SQLite: every model is as the migrations made its table', async (t) => {
  await compare(t, join(t.testdir(), 'keyhook.sqlite'))
})

await t.test('PostgreSQL: every model is as the migrations made its table', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  await compare(t, await server.createDatabase())
})
