import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { runCases } from '../../plugins/conformance.ts'
import type { SqlClient } from '../../plugins/store/sql.ts'
import type { SqlClientHarness } from '../../plugins/store/sql/conformance.ts'
import { sqlClientCases } from '../../plugins/store/sql/conformance.ts'
import { openSqlite } from '../../plugins/store/sql/sqlite.ts'
import { openStore } from '../../plugins/store/open.ts'
import { startPostgres } from '../support/postgres.ts'

const root = await mkdtemp(join(tmpdir(), 'keyhook-sql-client-'))
t.teardown(() => rm(root, { recursive: true, force: true }))
const server = await startPostgres()
t.teardown(() => server.stop())

let files = 0

/** Opens clients of one database, and closes all of them. */
function harnessOf(openOne: () => Promise<SqlClient>): SqlClientHarness {
  const opened: SqlClient[] = []
  const open = async () => {
    const client = await openOne()
    opened.push(client)
    return client
  }
  return {
    open,
    reopen: open,
    async close() {
      for (const client of opened) await client.close()
    },
  }
}

interface Suite {
  readonly makeHarness: () => Promise<SqlClientHarness>
  readonly capabilities: readonly string[]
}

const SUITES: Readonly<Record<string, Suite>> = {
  SQLite: {
    capabilities: ['reopen', 'hold'],
    async makeHarness() {
      const file = join(root, `${files++}.sqlite`)
      return harnessOf(() => openSqlite(file))
    },
  },
  PostgreSQL: {
    // Any number of processes write: none holds the others.
    capabilities: ['reopen'],
    async makeHarness() {
      const url = await server.createDatabase()
      // The client of the store: it needs the tables of the processes that share the database.
      return harnessOf(async () => (await openStore(url)).client)
    },
  },
}

for (const [name, { makeHarness, capabilities }] of Object.entries(SUITES)) {
  await t.test(`${name} keeps the contract of a client`, async (t) => {
    const register = (title: string, run: () => Promise<void>): void => {
      void t.test(title, async (t) => {
        await run()
        t.pass('as the contract says')
      })
    }
    const left = runCases(sqlClientCases, makeHarness, register, capabilities)
    const unable = sqlClientCases.filter(
      ({ requires }) => requires !== undefined && !capabilities.includes(requires),
    )
    t.same(
      left,
      unable.map((one) => one.name),
    )
  })
}
