import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool } from 'pg'
import t from 'tap'
import { runCases } from '../../plugins/conformance.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import { namePlatformTables } from '../../plugins/platform/sql/tables.ts'
import { nameTables } from '../../plugins/store/sql/tables.ts'
import { poolOn } from '../support/postgres-clients.ts'
import { startPostgres } from '../support/postgres.ts'
import { platformCases } from './cases.ts'
import type { PlatformHarness } from './harness.ts'

const clock = { now: () => 1_800_000_000_000 }

const APPEND_ONLY = ['ledger_entries', 'ledger_transactions']

/** Truncating takes longer than deleting, and most cases have none of these rows. */
async function emptyLedger(pool: Pool): Promise<void> {
  const { rows } = await pool.query('SELECT 1 FROM ledger_transactions LIMIT 1')
  if (rows.length > 0) await pool.query(`TRUNCATE ${APPEND_ONLY.join(', ')}`)
}

async function closeAll(stores: readonly PlatformStore[]): Promise<void> {
  for (const store of stores) await store.close()
}

await t.test('SQLite keeps what the platform store promises', async (t) => {
  const folder = t.testdir()
  const template = join(folder, 'template.sqlite')
  await (await openPlatformStore(template)).store.close()
  let files = 0

  async function makeHarness(): Promise<PlatformHarness> {
    const opened: PlatformStore[] = []
    return {
      clock,
      async open() {
        const file = join(folder, `${files++}.sqlite`)
        await copyFile(template, file)
        const { store } = await openPlatformStore(file)
        opened.push(store)
        return store
      },
      close: () => closeAll(opened),
    }
  }
  const left = runCases(platformCases, makeHarness, (title, run) => {
    void t.test(title, async (t) => {
      await run()
      t.pass('as promised')
    })
  })
  t.same(left, [], 'no case is left out')
})

await t.test('PostgreSQL keeps what the platform store promises', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  const url = await server.createDatabase()
  const pool = poolOn(t, url)
  await (await openPlatformStore(url, { tablePrefix: '' })).store.close()

  /** Rows of the schema itself, and names that only SQLite has. */
  const kept = new Set([
    'migrations',
    'publishing',
    'settling',
    'file_words',
    'processes',
    // Dropped since.
    'deployment_lines',
    'edit_lines',
    // Their rows cannot be deleted.
    ...APPEND_ONLY,
  ])
  const names = Object.values({ ...nameTables(''), ...namePlatformTables('') })
  const filled = names.filter((table) => !kept.has(table) && table !== 'changes_head')

  async function makeHarness(): Promise<PlatformHarness> {
    const deletes = filled.map((table) => `of_${table} AS (DELETE FROM ${table})`)
    await emptyLedger(pool)
    await pool.query(`WITH ${deletes.join(', ')} SELECT`)
    const opened: PlatformStore[] = []
    async function open(): Promise<PlatformStore> {
      const { store } = await openPlatformStore(pool, { tablePrefix: '' })
      opened.push(store)
      return store
    }
    return {
      clock,
      open,
      openPair: async () => [await open(), await open()],
      close: () => closeAll(opened),
    }
  }
  const left = runCases(platformCases, makeHarness, (title, run) => {
    void t.test(title, async (t) => {
      await run()
      t.pass('as promised')
    })
  })
  t.same(left, [], 'no case is left out')
})
