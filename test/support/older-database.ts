/** Databases that a daemon of a released version left behind: its own dump, and what it told its callers. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { openDatabase } from '../../plugins/sqlite/open.ts'
import { ROOT } from '../arch/source.ts'

/** Rows of a recorded database. */
export interface Recorded {
  readonly account: string
  readonly webhook: string
  readonly secret: string
  readonly root: KnownSecret
  readonly child: KnownSecret
  /** Revoked. */
  readonly gone: KnownSecret
  /** Id of an event that was delivered. */
  readonly delivered: string
  /** Id of an event whose first attempt failed; the second is due at once. */
  readonly waiting: string
}

interface KnownSecret {
  readonly id: string
  readonly key: string
}

/** The master key of every recorded database. */
export const RECORDED_MASTER_KEY = `k1:${Buffer.alloc(32, 7).toString('base64')}`

const fileOf = (name: string): string => readFileSync(join(ROOT, 'test/upgrade', name), 'utf8')

export type DatabaseKind = 'sqlite' | 'postgres'

/** Makes the database anew at a file or an address, as if it had been left ten minutes ago. */
export async function makeOlder(
  version: string,
  kind: DatabaseKind,
  place: string,
  receiver: number,
): Promise<Recorded> {
  const sql = asOfNow(fileOf(`${version}-${kind}.sql`)).replaceAll(
    '127.0.0.1:RECEIVER',
    `127.0.0.1:${receiver}`,
  )
  if (kind === 'sqlite') await runOnSqlite(place, sql)
  else await runOnPostgres(place, sql)
  return JSON.parse(fileOf(`${version}-${kind}.json`)) as Recorded
}

/** Instants are moved as a whole: the next attempt, the latest of all but of the end of keys, is due now. */
function asOfNow(sql: string): string {
  const instant = /\b1[789]\d{11}\b/g
  const latest = Math.max(...(sql.match(/(?<='retry', ?1, ?)\d{13}/g) ?? []).map(Number))
  const later = Date.now() - latest
  return sql.replaceAll(instant, (text) => String(Number(text) + later))
}

async function runOnSqlite(file: string, sql: string): Promise<void> {
  const database = await openDatabase(file, 'create')
  try {
    await database.exec(sql)
    // As the daemon left it.
    await database.exec('PRAGMA journal_mode = WAL')
  } finally {
    await database.close()
  }
}

async function runOnPostgres(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
