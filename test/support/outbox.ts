import { join } from 'node:path'
import pg from 'pg'
import sqlite3 from 'sqlite3'
import { OUTBOX_SQL } from '../../plugins/outbox/contract/table.ts'

/** A connection of a backend to its own database. */
export interface BackendSession {
  /** Runs one statement without values, or several. */
  run(sql: string): Promise<void>
  rows(sql: string): Promise<readonly Record<string, unknown>[]>
  close(): Promise<void>
}

/** A backend's database. */
export interface Backend {
  readonly dialect: keyof typeof OUTBOX_SQL
  /** As in `KEYHOOK_OUTBOX_URL`. */
  readonly url: string
  connect(): Promise<BackendSession>
}

export function sqliteBackend(folder: string): Backend {
  const file = join(folder, 'shop.sqlite')
  return {
    dialect: 'sqlite',
    url: `sqlite://${file}`,
    async connect() {
      const database = await new Promise<sqlite3.Database>((resolve, reject) => {
        const opened = new sqlite3.Database(file, (failed) => {
          if (failed === null) resolve(opened)
          else reject(failed)
        })
      })
      const session: BackendSession = {
        run: (sql) => called((done) => database.exec(sql, done)),
        rows: (sql) =>
          new Promise((resolve, reject) => {
            database.all<Record<string, unknown>>(sql, (failed, rows) => {
              if (failed === null) resolve(rows)
              else reject(failed)
            })
          }),
        close: () =>
          called((done) => {
            database.close(done)
          }),
      }
      await session.run('PRAGMA busy_timeout = 20000')
      return session
    },
  }
}

function called(start: (done: (failed: Error | null) => void) => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    start((failed) => {
      if (failed === null) resolve()
      else reject(failed)
    })
  })
}

export function postgresBackend(url: string): Backend {
  return {
    dialect: 'postgres',
    url,
    async connect() {
      const client = new pg.Client({ connectionString: url })
      // A test may end the server's side.
      client.on('error', () => undefined)
      await client.connect()
      return {
        run: async (sql) => void (await client.query(sql)),
        rows: async (sql) => (await client.query<Record<string, unknown>>(sql)).rows,
        close: () => client.end(),
      }
    },
  }
}

/** Creates the outbox, and the orders that are committed with it. */
export async function createTables({ dialect, connect }: Backend): Promise<BackendSession> {
  const session = await connect()
  await session.run(OUTBOX_SQL[dialect])
  await session.run('CREATE TABLE orders (number TEXT PRIMARY KEY)')
  return session
}

/** A statement that inserts a row, with the optional columns that are given. */
export function insertRow(row: Readonly<Record<string, string | null>>): string {
  const given = { account_id: 'acct_1', type: 'order.paid', data: '{}', ...row }
  const values = Object.values(given).map((value) =>
    value === null ? 'NULL' : `'${value.replaceAll("'", "''")}'`,
  )
  return `INSERT INTO keyhook_outbox (${Object.keys(given).join(', ')}) VALUES (${values.join(', ')})`
}
