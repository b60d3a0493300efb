import pg from 'pg'
import sqlite3 from 'sqlite3'
import type { SqlClient } from '../../../plugins/store/sql/client.ts'
import type { Row } from '../../../plugins/store/sql/rows.ts'
import { openDatabase } from '../../../plugins/registry.ts'
import { WARM_UP_MS, now } from '../clock.ts'
import { addCredit } from '../ledger.ts'
import { serve } from '../serve.ts'
import { spendOnce } from '../spend.ts'

/** Statements on a connection without anything of the product. */
interface Bare {
  run(sql: string, bind?: readonly unknown[]): Promise<void>
  close(): Promise<void>
}

/** Rows of one table. */
interface Rows {
  readonly table: string
  readonly rows: readonly Row[]
}

const ID = 'bench_template'
const TABLES = ['ledger_transactions', 'ledger_entries', 'holds', 'hold_lots'] as const

/**
 * The baseline of holding and capturing: the rows that a hold and a capture add, inserted into the product's own
 * tables, in two commits; answers such pairs a second.
 */
async function insert(input: {
  readonly database: string
  readonly seconds: number
}): Promise<number> {
  const units = await templatesOf(input.database)
  const bare = await openBare(input.database)
  const from = now() + WARM_UP_MS * 1000
  const end = from + input.seconds * 1e6
  let count = 0
  let number = 0
  for (let at = now(); at < end; at = now()) {
    number += 1
    for (const unit of units) await insertUnit(bare, unit, number)
    if (at >= from) count += 1
  }
  const perSecond = count / ((now() - from) / 1e6)
  await bare.close()
  return perSecond
}

/** What one hold adds, and what its capture does. */
async function templatesOf(database: string): Promise<readonly (readonly Rows[])[]> {
  const { store, client } = await openDatabase(database)
  await addCredit(store)
  const read = (): Promise<readonly Rows[]> => readAll(client)
  const before = await read()
  let held = before
  await spendOnce(store, ID, async () => {
    held = await read()
  })
  const captured = await read()
  await store.close()
  return [added(before, held), added(held, captured)]
}

function readAll({ read }: SqlClient): Promise<readonly Rows[]> {
  return Promise.all(
    TABLES.map(async (table) => ({ table, rows: await read(`SELECT * FROM keyhook_${table}`) })),
  )
}

/** Rows that were changed are no rows that were added. */
function added(before: readonly Rows[], after: readonly Rows[]): readonly Rows[] {
  const idOf = (row: Row): string =>
    JSON.stringify([row['id'] ?? row['transaction_id'] ?? row['hold_id'], row['number']])
  return after
    .map(({ table, rows }) => {
      const known = new Set(before.find((one) => one.table === table)?.rows.map(idOf))
      return { table, rows: rows.filter((row) => !known.has(idOf(row))) }
    })
    .filter(({ rows }) => rows.length > 0)
}

async function insertUnit(bare: Bare, unit: readonly Rows[], number: number): Promise<void> {
  await bare.run('BEGIN')
  for (const { table, rows } of unit) {
    const columns = Object.keys(rows[0] ?? {})
    const places = rows.map(
      (_, row) => `(${columns.map((_, at) => `$${row * columns.length + at + 1}`).join(', ')})`,
    )
    await bare.run(
      `INSERT INTO keyhook_${table} (${columns.join(', ')}) VALUES ${places.join(', ')}`,
      rows.flatMap((row) => columns.map((column) => valueOf(row, column, number))),
    )
  }
  await bare.run('COMMIT')
}

const IDS = new Set(['id', 'key', 'transaction_id', 'hold_id', 'operation_id'])

/** As in the template, but for ids and places, which no other row has. */
function valueOf(row: Row, column: string, number: number): unknown {
  const value = row[column]
  if (IDS.has(column)) return `${String(value)} ${number}`
  return column === 'seq' ? Number(value) + 2 * number : value
}

async function openBare(database: string): Promise<Bare> {
  if (!database.includes('://')) return openBareSqlite(database)
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  const names = new Map<string, string>()
  return {
    async run(text, bind = []) {
      const name = names.get(text) ?? `bare_${names.size}`
      names.set(text, name)
      await client.query({ name, text, values: [...bind] })
    },
    close: () => client.end(),
  }
}

async function openBareSqlite(file: string): Promise<Bare> {
  const database = new sqlite3.Database(file)
  const prepared = new Map<string, sqlite3.Statement>()
  const run: Bare['run'] = (sql, bind = []) => {
    const statement = prepared.get(sql) ?? database.prepare(sql)
    prepared.set(sql, statement)
    return settled((done) => statement.run(bind, done))
  }
  await settled((done) =>
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL', done),
  )
  return {
    run,
    async close() {
      for (const statement of prepared.values()) await settled((done) => statement.finalize(done))
      await settled((done) => database.close(done))
    },
  }
}

function settled(start: (done: (error?: Error | null) => void) => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => {
      if (error === null || error === undefined) resolve()
      else reject(error)
    })
  })
}

serve({ insert })
