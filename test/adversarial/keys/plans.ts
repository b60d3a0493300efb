import { join } from 'node:path'
import type { Test } from 'tap'
import type { Store } from '../../../plugins/store/contract.ts'
import type { Query, SqlClient } from '../../../plugins/store/sql/client.ts'
import { coreSteps, migrate } from '../../../plugins/store/sql/migrate.ts'
import { openSqlite } from '../../../plugins/store/sql/sqlite.ts'
import { createSqlStore } from '../../../plugins/store/sql/store.ts'
import { nameTables } from '../../../plugins/store/sql/tables.ts'

/** Rows that statements answered, and rows that they inserted, changed or deleted. */
export interface Cost {
  readonly read: number
  readonly written: number
}

/** A store on SQLite, and what its statements read and write. */
export interface Explained {
  readonly client: SqlClient
  readonly store: Store
  /** How each statement so far that matches reads its tables, step by step. */
  plans(statements: RegExp): Promise<readonly string[]>
  costOf(work: () => Promise<unknown>): Promise<Cost>
}

export async function openExplained(t: Pick<Test, 'testdir' | 'teardown'>): Promise<Explained> {
  const client = await openSqlite(join(t.testdir(), 'keyhook.sqlite'))
  t.teardown(() => client.close())
  const tables = nameTables('')
  await migrate(client, tables, coreSteps(tables))
  const asked = new Map<string, readonly unknown[]>()
  let read = 0
  const noting = (query: Query): Query => {
    return async (sql, bind = []) => {
      asked.set(sql, bind)
      const rows = await query<never>(sql, bind)
      read += rows.length
      return rows
    }
  }
  const noted: SqlClient = {
    ...client,
    read: noting(client.read),
    transaction: (work, options) => client.transaction((query) => work(noting(query)), options),
    exclusive: (purpose, work) => client.exclusive(purpose, (query) => work(noting(query))),
  }
  const written = () =>
    client.transaction(async (query) => {
      const [row] = await query<{ written: number }>('SELECT total_changes() AS written')
      return row?.written ?? 0
    })
  return {
    client,
    store: createSqlStore(noted, tables),
    async plans(statements) {
      const plans: string[] = []
      for (const [sql, bind] of asked) {
        if (!statements.test(sql)) continue
        const rows = await client.read<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, bind)
        plans.push(...rows.map(({ detail }) => detail))
      }
      return plans
    },
    async costOf(work) {
      const before = { read, written: await written() }
      await work()
      return { read: read - before.read, written: (await written()) - before.written }
    },
  }
}
