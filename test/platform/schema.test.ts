import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { ColumnType } from '../../plugins/platform/model/columns.ts'
import { MODELS } from '../../plugins/platform/models.ts'
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

await t.test('SQLite: every model is as the migrations made its table', async (t) => {
  await compare(t, join(t.testdir(), 'keyhook.sqlite'))
})

await t.test('PostgreSQL: every model is as the migrations made its table', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  await compare(t, await server.createDatabase())
})
