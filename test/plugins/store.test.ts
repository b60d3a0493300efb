import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import sqlite3 from 'sqlite3'
import t from 'tap'
import type { ConformanceCase } from '../../plugins/conformance.ts'
import { runCases } from '../../plugins/conformance.ts'
import type { Store } from '../../plugins/store/contract.ts'
import type { OpenTransaction, StoreHarness } from '../../plugins/store/conformance.ts'
import { storeCases } from '../../plugins/store/conformance.ts'
import { createMemoryStore } from '../../plugins/store/memory.ts'
import { openSqliteStore } from '../../plugins/store/open.ts'
import { signal } from '../support/signal.ts'

const NOW = 1_800_000_000_000
const clock = { now: () => NOW }
const root = await mkdtemp(join(tmpdir(), 'keyhook-store-'))
t.teardown(() => rm(root, { recursive: true, force: true }))

const OTHER_PROCESS = new URL('../support/conformance/store-sqlite.js', import.meta.url).href

let files = 0
const newFile = (): string => join(root, `${files++}.sqlite`)

const template = newFile()
await (await openSqliteStore(template)).store.close()

async function memoryHarness(): Promise<StoreHarness> {
  return { clock, open: async () => createMemoryStore() }
}

/** Every store is a copy of one migrated file. */
async function sqliteHarness(): Promise<StoreHarness> {
  const opened = new Map<Store, string>()
  let last = ''
  async function openFile(file: string): Promise<Store> {
    const { store } = await openSqliteStore(file)
    opened.set(store, file)
    last = file
    return store
  }
  async function closeAll(): Promise<void> {
    for (const store of opened.keys()) await store.close()
    opened.clear()
  }
  return {
    clock,
    async open() {
      const file = newFile()
      await copyFile(template, file)
      return openFile(file)
    },
    async reopen(work) {
      await closeAll()
      await work()
      return openFile(last)
    },
    otherProcess: () => ({ module: OTHER_PROCESS, argument: last }),
    begin: (store) => beginOn(store, opened.get(store) ?? ''),
    close: closeAll,
  }
}

/** A transaction on a connection of its own, in the writer's turn. */
async function beginOn(store: Store, file: string): Promise<OpenTransaction> {
  const database = new sqlite3.Database(file)
  const tell = (statement: string): Promise<void> =>
    new Promise((resolve, reject) => {
      database.exec(statement, (error) => (error === null ? resolve() : reject(error)))
    })
  const begun = signal()
  const ended = signal()
  const held = store.hold?.(
    async () => {
      await tell('BEGIN IMMEDIATE')
      begun.resolve()
      await ended.promise
    },
    { maxAge: 60_000 },
  )
  await begun.promise
  const endWith = (statement: string) => async () => {
    await tell(statement)
    ended.resolve()
    await held
    await new Promise((resolve) => database.close(resolve))
  }
  return { handle: database, commit: endWith('COMMIT'), rollback: endWith('ROLLBACK') }
}

const ONE_PROCESS = 'one process opens it'
const NO_WATCH = 'no other process writes, and who commits a joined unit says so itself'

interface Suite {
  readonly makeHarness: () => Promise<StoreHarness>
  readonly capabilities: readonly string[]
  /** Why cases that require a capability mean nothing here. */
  readonly lacks: Readonly<Record<string, string>>
}

const SUITES: Readonly<Record<string, Suite>> = {
  memory: {
    makeHarness: memoryHarness,
    capabilities: ['concurrentReads'],
    lacks: {
      join: 'it is in no database that an embedder could have a transaction on',
      overlap: 'its units run one after another',
      watch: NO_WATCH,
      durable: 'it is gone with its process',
      manyProcesses: ONE_PROCESS,
    },
  },
  SQLite: {
    makeHarness: sqliteHarness,
    capabilities: ['join', 'concurrentReads', 'durable'],
    lacks: {
      overlap: 'a file has one writer at a time',
      watch: NO_WATCH,
      manyProcesses: ONE_PROCESS,
    },
  },
}

for (const [name, { makeHarness, capabilities, lacks }] of Object.entries(SUITES)) {
  await t.test(`${name} keeps the contract of the store`, async (t) => {
    const register = (title: string, run: () => Promise<void>): void => {
      void t.test(title, async (t) => {
        await run()
        t.pass('as the contract says')
      })
    }
    const left = runCases(storeCases, makeHarness, register, capabilities)
    const meaningless = storeCases.filter(({ requires = '' }) => requires in lacks)
    t.same(
      left,
      meaningless.map((one) => one.name),
      'no case is left out but for a reason',
    )
    const titles = storeCases.map((one) => one.name)
    t.equal(new Set(titles).size, titles.length, 'no two cases bear the same title')
  })
}

await t.test('the engine of the suites', async (t) => {
  const said: string[] = []
  type Harness = { readonly id: number; close(): Promise<void> }
  let made = 0
  const makeHarness = async (): Promise<Harness> => {
    const id = ++made
    return {
      id,
      async close() {
        said.push(`close ${id}`)
      },
    }
  }
  const fine = async ({ id }: Harness): Promise<void> => {
    said.push(`run ${id}`)
  }
  const cases: readonly ConformanceCase<Harness>[] = [
    { name: 'fine', run: fine },
    { name: 'faulty', run: () => Promise.reject(new Error('not as the contract says')) },
    { name: 'able', requires: 'manyProcesses', run: fine },
  ]

  await t.test('each case has a harness of its own, closed whatever comes of it', async (t) => {
    const runs: (() => Promise<void>)[] = []
    runCases(cases, makeHarness, (_, run) => runs.push(run))
    const results = await Promise.allSettled(runs.map((run) => run()))
    t.same(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    )
    t.same(said.sort(), ['close 1', 'close 2', 'run 1'])
  })

  await t.test('a case that never ends fails by its name', async (t) => {
    mock.timers.enable({ apis: ['setTimeout'] })
    t.teardown(() => {
      mock.timers.reset()
    })
    const endless = { name: 'endless', run: () => new Promise<void>(() => undefined) }
    const runs: (() => Promise<void>)[] = []
    runCases([endless], makeHarness, (_, run) => runs.push(run))
    const running = t.rejects(Promise.all(runs.map((run) => run())), {
      message: /still running after 60 seconds: endless/,
    })
    await new Promise(setImmediate)
    mock.timers.tick(60_000)
    await running
  })

  await t.test('a case runs only for a capability that is claimed, else it is named', async (t) => {
    const titles: string[] = []
    const left = runCases(cases, makeHarness, (name) => titles.push(name))
    t.same([titles, left], [['fine', 'faulty'], ['able']])
    const able: string[] = []
    t.same(
      runCases(cases, makeHarness, (name) => able.push(name), ['manyProcesses']),
      [],
    )
    t.same(able, ['fine', 'faulty', 'able'])
    t.throws(() => runCases(cases, makeHarness, (name) => able.push(name), ['manyProceses']), {
      name: 'TypeError',
      message: /capability manyProceses; known: manyProcesses$/,
    })
    t.equal(able.length, 3, 'and registers nothing')
  })
})
