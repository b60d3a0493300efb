import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { AppBytesHarness } from '../../plugins/apps/conformance.ts'
import { appBytesCases } from '../../plugins/apps/conformance.ts'
import { openDatabaseBytes } from '../../plugins/apps/database.ts'
import { openDiskBytes } from '../../plugins/apps/disk.ts'
import { createMemoryBytes } from '../../plugins/apps/memory.ts'
import { runCases } from '../../plugins/conformance.ts'
import type { SqlClient } from '../../plugins/store/sql/client.ts'
import { bytes as steps } from '../../plugins/platform/migrations/bytes.ts'
import { createMembership } from '../../plugins/store/sql/postgres/membership.ts'
import { fromPool } from '../../plugins/store/sql/postgres/source.ts'
import { openPostgres } from '../../plugins/store/sql/postgres.ts'
import { openSqlite } from '../../plugins/store/sql/sqlite.ts'
import { nameTables } from '../../plugins/store/sql/tables.ts'
import { namePlatformTables } from '../../plugins/platform/sql/tables.ts'
import { poolOn } from '../support/postgres-clients.ts'
import { startPostgres } from '../support/postgres.ts'

const root = await mkdtemp(join(tmpdir(), 'keyhook-apps-'))
t.teardown(() => rm(root, { recursive: true, force: true }))
const server = await startPostgres()
t.teardown(() => server.stop())

const OTHER_DISK = new URL('../support/conformance/apps-disk.js', import.meta.url).href
const OTHER_POSTGRES = new URL('../support/conformance/apps-postgres.js', import.meta.url).href

let made = 0
const newPath = (): string => join(root, String(made++))

/** Time that goes on when it is told to. */
function createTime(): Pick<AppBytesHarness, 'clock' | 'pass'> {
  let now = 1_800_000_000_000
  return {
    clock: { now: () => now },
    pass: async (ms) => {
      now += ms
    },
  }
}

async function memoryHarness(): Promise<AppBytesHarness> {
  const time = createTime()
  const bytes = createMemoryBytes({ clock: time.clock })
  return { ...time, open: async () => bytes }
}

async function diskHarness(): Promise<AppBytesHarness> {
  const time = createTime()
  const folder = newPath()
  return {
    ...time,
    open: () => openDiskBytes({ folder, clock: time.clock }),
    otherProcess: () => ({ module: OTHER_DISK, argument: folder }),
  }
}

const PREFIX = 'dev_'
const tables = namePlatformTables(PREFIX)
const core = nameTables(PREFIX)

async function makeTables(client: SqlClient): Promise<void> {
  for (const statement of steps.flatMap(({ up }) => up(tables, client.dialect))) {
    await client.exclusive('purge', (query) => query(statement))
  }
}

async function sqliteHarness(): Promise<AppBytesHarness> {
  const time = createTime()
  const client = await openSqlite(newPath())
  await makeTables(client)
  return {
    ...time,
    open: () => openDatabaseBytes({ client, tablePrefix: PREFIX, clock: time.clock }),
    close: () => client.close(),
  }
}

const url = await server.createDatabase()
const pool = poolOn(t, url)

function openClient(): SqlClient {
  const source = fromPool(pool)
  return openPostgres(source, core, createMembership(source, core))
}

await makeTables(openClient())

/** Each opening is a process's own. */
async function postgresHarness(): Promise<AppBytesHarness> {
  const time = createTime()
  await pool.query(`DELETE FROM ${tables.app_bytes}`)
  return {
    ...time,
    open: () => openDatabaseBytes({ client: openClient(), tablePrefix: PREFIX, clock: time.clock }),
    otherProcess: () => ({
      module: OTHER_POSTGRES,
      argument: { url, tablePrefix: PREFIX },
    }),
  }
}

interface Suite {
  readonly makeHarness: () => Promise<AppBytesHarness>
  readonly manyProcesses: boolean
  /** Why cases that require a capability mean nothing here. */
  readonly lacks: Readonly<Record<string, string>>
}

const ONE_PROCESS = 'one process opens it'

const SUITES: Readonly<Record<string, Suite>> = {
  memory: {
    makeHarness: memoryHarness,
    manyProcesses: false,
    lacks: { durable: 'it is gone with its process', manyProcesses: ONE_PROCESS },
  },
  'a folder': { makeHarness: diskHarness, manyProcesses: true, lacks: {} },
  SQLite: {
    makeHarness: sqliteHarness,
    manyProcesses: false,
    lacks: { manyProcesses: ONE_PROCESS },
  },
  PostgreSQL: { makeHarness: postgresHarness, manyProcesses: true, lacks: {} },
}

for (const [name, { makeHarness, manyProcesses, lacks }] of Object.entries(SUITES)) {
  await t.test(`${name} keeps the contract of the bytes of apps`, async (t) => {
    const harness = await makeHarness()
    t.equal((await harness.open()).manyProcesses ?? false, manyProcesses)
    await harness.close?.()
    const register = (title: string, run: () => Promise<void>): void => {
      void t.test(title, async (t) => {
        await run()
        t.pass('as the contract says')
      })
    }
    const capabilities = ['durable', 'manyProcesses'].filter((capability) => !(capability in lacks))
    const left = runCases(appBytesCases, makeHarness, register, capabilities)
    const meaningless = appBytesCases.filter(({ requires = '' }) => requires in lacks)
    t.same(
      left,
      meaningless.map((one) => one.name),
      'no case is left out but for a reason',
    )
    const titles = appBytesCases.map((one) => one.name)
    t.equal(new Set(titles).size, titles.length, 'no two cases bear the same title')
  })
}
