import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { kernelError } from '../../../lib/errors.ts'
import { createLimiter } from '../../../lib/internal/limiter.ts'
import type { SqliteConnection } from '../../sqlite/open.ts'
import { openDatabase } from '../../sqlite/open.ts'
import type { Query, SqlClient } from './client.ts'
import { SQLITE } from './sqlite/dialect.ts'
import { connectionOf, isObject } from './joined.ts'
import { createOneWriterClient } from '../sql.ts'
import { preparedOn } from './sqlite/prepared.ts'
import { createReadLimiter } from './sqlite/reads.ts'
import type { CallbackConnection } from './sqlite/statement.ts'
import { queryOn, queryOnCallbacks } from './sqlite/statement.ts'

/** WAL and FULL: an acknowledged commit survives a power failure. */
const PRAGMAS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA busy_timeout = 5000;
  PRAGMA journal_size_limit = 67108864;
`

/**
 * Opens a SQLite file with one writer connection, one reader, and one reader for searches.
 *
 * @param file the database file; created when missing
 * @throws Error when the file cannot be opened in WAL mode with synchronous=FULL
 */
export async function openSqlite(file: string): Promise<SqlClient> {
  const writer = await connect(file)
  const reader = await connect(file)
  const searcher = await connect(file)
  let isBroken = false
  const reads = createReadLimiter()
  const searches = createLimiter(1)
  const writing = preparedOn(writer, createLimiter(1))
  const reading = preparedOn(reader, reads)
  const searching = preparedOn(searcher, (work, sql) => searches(() => reads(work, sql)))

  /** A transaction that stays open would include every later statement. */
  const statement: Query = async (sql, bind) => {
    if (isBroken) {
      throw kernelError('unavailable', { internal: 'a transaction could not be ended' })
    }
    return writing.query(sql, bind)
  }

  async function transact<T>(work: (query: Query) => Promise<T>): Promise<T> {
    await statement('BEGIN IMMEDIATE')
    try {
      const result = await work(writing.query)
      await writing.query('COMMIT')
      return result
    } catch (cause) {
      await rollBack()
      throw cause
    }
  }

  /** Some errors roll back by themselves; then there is nothing left to roll back. */
  async function rollBack(): Promise<void> {
    try {
      await writing.query('ROLLBACK')
    } catch (cause) {
      isBroken = !(cause instanceof Error && cause.message.includes('no transaction is active'))
    }
  }

  return createOneWriterClient({
    dialect: SQLITE,
    read: reading.query,
    search: searching.query,
    statement,
    transact,
    join: (transaction) => queryOnCallbacks(connectionOf(transaction, isDatabase)),
    async close() {
      for (const prepared of [writing, reading, searching]) await prepared.finalize()
      for (const connection of [writer, reader, searcher]) await connection.close()
    },
  })
}

async function connect(file: string): Promise<SqliteConnection> {
  await mkdir(dirname(file), { recursive: true })
  const connection = await openDatabase(file, 'create')
  await connection.exec(PRAGMAS)
  await assertDurable(queryOn(connection), file)
  return connection
}

async function assertDurable(query: Query, file: string): Promise<void> {
  const [mode] = await query<{ journal_mode: string }>('PRAGMA journal_mode')
  const [sync] = await query<{ synchronous: number }>('PRAGMA synchronous')
  if (mode?.journal_mode !== 'wal' || sync?.synchronous !== 2) {
    throw new Error(
      `${file}: SQLite must run in WAL mode with synchronous=FULL, but answers ` +
        `${String(mode?.journal_mode)} and ${String(sync?.synchronous)}`,
    )
  }
}

function isDatabase(value: unknown): value is CallbackConnection {
  return isObject(value) && typeof value['all'] === 'function' && 'filename' in value
}
