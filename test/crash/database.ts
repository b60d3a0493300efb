import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import pg from 'pg'
import sqlite3 from 'sqlite3'
import { startPostgres } from '../support/postgres.ts'

export type DatabaseName = 'sqlite' | 'postgres'

interface HeldClaim {
  readonly id: string
  readonly claim: string
}

/** The database of a run, read beside the daemon and never written. */
export interface CrashDatabase {
  readonly name: DatabaseName
  readonly env: Readonly<Record<string, string>>
  /** SQLite's shared index of its log. */
  readonly shm: string | undefined
  /** Deliveries that somebody claimed and did not record. */
  inFlight(): Promise<readonly HeldClaim[]>
  /** The processes that it knows, by what their claims begin with; none on SQLite. */
  processes(): Promise<readonly string[]>
  /** When each delivery that is not final is due, by the clock of the daemons. */
  unfinished(): Promise<readonly number[]>
  /** Deliveries that are not final though their webhook is gone, each with the claim that it bears. */
  orphans(): Promise<readonly string[]>
  /** Makes the server itself crash and recover, its connections lost; undefined without a server. */
  readonly crash: (() => Promise<void>) | undefined
  /** What SQLite finds wrong with the file; nothing elsewhere. */
  faults(): Promise<readonly string[]>
  close(): Promise<void>
}

const IN_FLIGHT = `SELECT id, claim FROM keyhook_deliveries WHERE done_at IS NULL AND status = 'delivering'`
const UNFINISHED = `SELECT next_at FROM keyhook_deliveries WHERE done_at IS NULL`
const ORPHANS = `SELECT id || ' ' || COALESCE(claim, 'unclaimed') AS id FROM keyhook_deliveries d WHERE done_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM keyhook_webhooks w WHERE w.id = d.webhook_id)`

const PROCESSES = 'SELECT id FROM keyhook_processes'

const TRIES = 100

type Ask = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>

type Questions = Pick<CrashDatabase, 'inFlight' | 'processes' | 'unfinished' | 'orphans'>

/** Until it is migrated, nothing is in it. */
function questions(ask: Ask): Questions {
  const rows: Ask = async (sql) => {
    try {
      return await ask(sql)
    } catch (cause) {
      if (/no such table|does not exist|SQLITE_CANTOPEN/.test(String(cause))) return []
      throw cause
    }
  }
  const ids = async (sql: string): Promise<readonly string[]> =>
    (await rows(sql)).map(({ id }) => String(id))
  return {
    inFlight: async () =>
      (await rows(IN_FLIGHT)).map(({ id, claim }) => ({ id: String(id), claim: String(claim) })),
    processes: () => ids(PROCESSES),
    unfinished: async () => (await rows(UNFINISHED)).map(({ next_at }) => Number(next_at)),
    orphans: () => ids(ORPHANS),
  }
}

export async function openCrashDatabase(
  name: DatabaseName,
  folder: string,
): Promise<CrashDatabase> {
  return name === 'sqlite' ? onSqlite(join(folder, 'data', 'keyhook.db')) : onPostgres()
}

function onSqlite(file: string): CrashDatabase {
  // Only to read: a connection that may write would repair the file before the daemon has to.
  const ask: Ask = async (sql) => {
    const database = await new Promise<sqlite3.Database>((resolve, reject) => {
      const opened = new sqlite3.Database(file, sqlite3.OPEN_READONLY, (cause) => {
        if (cause === null) resolve(opened)
        else reject(cause)
      })
    })
    try {
      return await new Promise((resolve, reject) => {
        database.all<Record<string, unknown>>(sql, (cause, rows) => {
          if (cause === null) resolve(rows)
          else reject(cause)
        })
      })
    } finally {
      await new Promise((resolve) => database.close(resolve))
    }
  }
  return {
    ...questions(ask),
    name: 'sqlite',
    env: {},
    shm: `${file}-shm`,
    crash: undefined,
    async faults() {
      const rows = await ask('PRAGMA integrity_check')
      return rows.map((row) => String(row['integrity_check'])).filter((text) => text !== 'ok')
    },
    close: async () => undefined,
  }
}

async function onPostgres(): Promise<CrashDatabase> {
  const server = await startPostgres()
  const url = await server.createDatabase()
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  pool.on('error', () => undefined)
  /** A server that just crashed is asked again until it has recovered. */
  const ask: Ask = async (sql) => {
    for (let tries = 1; ; tries++) {
      try {
        return (await pool.query(sql)).rows as Record<string, unknown>[]
      } catch (cause) {
        if (tries === TRIES || /does not exist/.test(String(cause))) throw cause
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  }
  /** As after `-m immediate`: of one process killed, the server ends every other and recovers. */
  async function crash(): Promise<void> {
    const { rows } = await pool.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'`,
    )
    for (const { pid } of rows) process.kill(pid, 'SIGKILL')
  }
  return {
    ...questions(ask),
    name: 'postgres',
    env: {
      KEYHOOK_DATABASE_URL: url,
      KEYHOOK_MASTER_KEY: `crash:${randomBytes(32).toString('base64')}`,
    },
    shm: undefined,
    faults: async () => [],
    crash: process.env['KEYHOOK_TEST_POSTGRES_URL'] === undefined ? crash : undefined,
    async close() {
      await pool.end()
      await server.stop()
    },
  }
}
