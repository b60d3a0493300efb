/**
 * What a backup reads of a database, and what a restore changes in its copy, without the store.
 *
 * @module
 */
import type { Instant } from '../../../lib/time.ts'
import { openDatabase } from '../../sqlite/open.ts'
import type { RestoredChanges } from './changes.ts'
import { pauseStatements, revokeStatements } from './changes.ts'
import { SQLITE } from '../../store/sql/sqlite/dialect.ts'
import { queryOn } from '../../store/sql/sqlite/statement.ts'
import { nameTables } from '../../store/sql/tables.ts'
import { DEFAULT_PREFIX } from '../../store/opening.ts'
import type { Query } from '../../store/sql/client.ts'
import { namePlatformTables } from '../sql/tables.ts'
import { copySqlite } from './copy.ts'
import type { DatabaseFacts, KnownKey, Waiting } from './facts.ts'
import { readFacts, validKeys, waitingDeliveries } from './facts.ts'

export type { KnownKey, Waiting } from './facts.ts'

/** SQLite files, as backups use them. */
export interface SqliteBackups {
  copy(from: string, to: string, progress: (share: number) => void): Promise<void>
  /** @throws Error for a file that is damaged */
  requireSound(file: string): Promise<void>
  facts(file: string, meta: string, now: Instant): Promise<DatabaseFacts>
  validKeys(file: string, now: Instant): Promise<readonly KnownKey[]>
  waiting(file: string): Promise<readonly Waiting[]>
  /** Returns the number of keys that it revoked. */
  change(file: string, changes: RestoredChanges): Promise<number>
}

const core = nameTables(DEFAULT_PREFIX)
const platform = namePlatformTables(DEFAULT_PREFIX)

export const sqliteBackups: SqliteBackups = {
  copy: copySqlite,
  async requireSound(file) {
    const [row] = await reading(file, (query) =>
      query<{ integrity_check: string }>('PRAGMA integrity_check(1)'),
    )
    if (row?.integrity_check !== 'ok') {
      throw new Error(`${file} is damaged: ${row?.integrity_check ?? 'it cannot be read'}`)
    }
  },
  facts: (file, meta, now) =>
    reading(file, (query) => readFacts(query, SQLITE, { core, platform }, meta, now)),
  validKeys: (file, now) => reading(file, (query) => validKeys(query, core, now)),
  waiting: (file) => reading(file, (query) => waitingDeliveries(query, core)),
  change: (file, changes) => writing(file, (query) => change(query, changes)),
}

async function change(query: Query, changes: RestoredChanges): Promise<number> {
  let revoked = 0
  for (const { sql, bind } of pauseStatements(core, changes)) await query(sql, bind)
  for (const { sql, bind } of revokeStatements(core, changes)) {
    revoked = (await query(sql, bind)).length
  }
  return revoked
}

async function reading<T>(file: string, work: (query: Query) => Promise<T>): Promise<T> {
  const connection = await openDatabase(file, 'read')
  try {
    return await work(queryOn(connection))
  } finally {
    await connection.close()
  }
}

/** One transaction in a file that nobody else has open, which has no files beside it afterwards. */
async function writing<T>(file: string, work: (query: Query) => Promise<T>): Promise<T> {
  const connection = await openDatabase(file, 'write')
  try {
    const query = queryOn(connection)
    await query('PRAGMA synchronous = FULL')
    await query('BEGIN IMMEDIATE')
    const done = await work(query)
    await query('COMMIT')
    return done
  } finally {
    await connection.close()
  }
}
