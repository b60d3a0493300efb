/** Runs both published suites over a client of docs/stores.md, and prints what came of each case. */
import { cpSync, existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCases } from 'keyhook/plugins/conformance'
import { storeCases } from 'keyhook/plugins/store/conformance'
import { sqlClientCases } from 'keyhook/plugins/store/sql/conformance'
import { openStore } from 'keyhook/plugins/store/sqlite'

const clock = { now: () => 1_800_000_000_000 }
const root = await mkdtemp(join(tmpdir(), 'keyhook-store-report-'))
let places = 0
const newPlace = () => join(root, `store_${places++}`)

/** To make a database of PGlite takes two seconds: each client opens a copy, and the store's cases share one, emptied. */
async function pglite() {
  const { openPglite } = await import('./pglite.mjs')
  const made = newPlace()
  await (await openPglite(made)).close()
  async function openClient(place) {
    if (!existsSync(place)) cpSync(made, place, { recursive: true })
    return openPglite(place)
  }

  const shared = await openClient(newPlace())
  async function makeHarness() {
    const tables = await shared.read(TABLES)
    if (tables.length > 0) {
      await shared.exclusive('purge', (run) => run(`TRUNCATE ${tables.map(({ name }) => name)}`))
    }
    const client = { ...shared, close: async () => undefined }
    return { clock, open: async () => (await openStore({ client })).store }
  }
  return { openClient, makeHarness, able: [], close: () => shared.close() }
}

/** But those with rows that a migration inserts. */
const TABLES = `SELECT tablename AS name FROM pg_tables WHERE starts_with(tablename, 'keyhook_')
  AND tablename NOT IN ('keyhook_migrations', 'keyhook_changes_head')`

async function nodeSqlite() {
  const { openNodeSqlite } = await import('./node-sqlite.mjs')
  const { DatabaseSync } = await import('node:sqlite')
  async function makeHarness() {
    const opened = new Map()
    return {
      clock,
      async open() {
        const file = newPlace()
        const { store } = await openStore({ client: openNodeSqlite(file) })
        opened.set(store, file)
        return store
      },
      begin: (store) => beginOn(new DatabaseSync(opened.get(store)), store),
      async close() {
        for (const store of opened.keys()) await store.close()
      },
    }
  }
  return {
    openClient: openNodeSqlite,
    makeHarness,
    able: ['join', 'concurrentReads'],
    close: async () => undefined,
  }
}

/** Begins a transaction of an embedder, in the writer's turn. */
async function beginOn(handle, store) {
  const begun = Promise.withResolvers()
  const ended = Promise.withResolvers()
  const held = store.hold(
    async () => {
      handle.exec('BEGIN IMMEDIATE')
      begun.resolve()
      await ended.promise
    },
    { maxAge: 60_000 },
  )
  await begun.promise
  const endWith = (statement) => async () => {
    handle.exec(statement)
    ended.resolve()
    await held
    handle.close()
  }
  return { handle, commit: endWith('COMMIT'), rollback: endWith('ROLLBACK') }
}

/** Opens clients of one place, and closes all of them. */
function clientHarness(openClient) {
  return async () => {
    const place = newPlace()
    const opened = []
    const open = async () => {
      const client = await openClient(place)
      opened.push(client)
      return client
    }
    const close = async () => {
      for (const client of opened) await client.close()
    }
    return { open, reopen: open, close }
  }
}

const { openClient, makeHarness, able, close } = await { pglite, nodeSqlite }[process.argv[2]]()
const cases = []
const register = (name, run) => cases.push([name, run])
const left = runCases(sqlClientCases, clientHarness(openClient), register, ['reopen', 'hold'])
left.push(...runCases(storeCases, makeHarness, register, able))
const failed = {}
for (const [name, run] of cases) {
  await run().catch((cause) => {
    failed[name] = String(cause.stack)
  })
}
await close()
await rm(root, { recursive: true, force: true })
process.stdout.write(JSON.stringify({ ran: cases.length, failed, left }))
