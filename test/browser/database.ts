import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import sqlite3 from 'sqlite3'
import type { Test } from 'tap'
import type { Env } from '../support/daemon.ts'
import { startPostgres } from '../support/postgres.ts'

/** Databases on which the suites of Studio run: `KEYHOOK_TEST_DATABASE` names one. Default: sqlite. */
const OPENERS = { sqlite: openSqlite, postgres: openPostgres }

/** The database of a daemon, and how a test changes what time alone would change. */
export interface Database {
  readonly env: Env
  run(statement: string): Promise<void>
}

const named = process.env['KEYHOOK_TEST_DATABASE'] ?? 'sqlite'
if (!(named in OPENERS))
  throw new Error(`KEYHOOK_TEST_DATABASE is sqlite or postgres, not ${named}`)

export const DATABASE = named as keyof typeof OPENERS

export function openDatabase(t: Pick<Test, 'testdir' | 'teardown'>): Promise<Database> {
  return OPENERS[DATABASE](t)
}

async function openSqlite(t: Pick<Test, 'testdir'>): Promise<Database> {
  const folder = t.testdir()
  return {
    env: { KEYHOOK_DATA_DIR: folder },
    async run(statement) {
      const database = new sqlite3.Database(join(folder, 'keyhook.db'))
      await promisify<string, void>((sql, done) => database.run(sql, done))(statement)
      await promisify<void>((done) => database.close(done))()
    },
  }
}

async function openPostgres(t: Pick<Test, 'testdir' | 'teardown'>): Promise<Database> {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  const url = await server.createDatabase()
  return {
    env: {
      KEYHOOK_DATA_DIR: t.testdir(),
      KEYHOOK_DATABASE_URL: url,
      KEYHOOK_MASTER_KEY: `test:${randomBytes(32).toString('base64')}`,
    },
    async run(statement) {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      try {
        await client.query(statement)
      } finally {
        await client.end()
      }
    },
  }
}
