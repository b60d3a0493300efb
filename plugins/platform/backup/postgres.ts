/**
 * What a backup reads of a PostgreSQL database, and what a restore changes in its copy. The copy itself is that of
 * `pg_dump`.
 *
 * @module
 */
import type { Instant, Millis } from '../../../lib/time.ts'
import { HOUR } from '../../../lib/time.ts'
import { DEFAULT_PREFIX } from '../../store/opening.ts'
import type { Query } from '../../store/sql/client.ts'
import { tablesIn } from '../../store/sql/extension.ts'
import { createDialect } from '../../store/sql/postgres/dialect.ts'
import { fromUrl } from '../../store/sql/postgres/source.ts'
import { queryOn } from '../../store/sql/postgres/statement.ts'
import { withConnection } from '../../store/sql/postgres/with-connection.ts'
import { nameTables } from '../../store/sql/tables.ts'
import { namePlatformTables } from '../sql/tables.ts'
import type { DatabaseFacts, KnownKey, Waiting } from './facts.ts'
import { readFacts, validKeys, waitingDeliveries } from './facts.ts'

/** Digests of blobs by app, in order. */
export type StoredBlobs = Readonly<Record<string, readonly string[]>>

/** One instant of a database. */
export interface Snapshot {
  /** Name by which other connections see the same instant. */
  readonly name: string
  readonly facts: DatabaseFacts
  readonly valid: readonly KnownKey[]
  readonly blobs: StoredBlobs
}

/** Databases of a server, as backups use them. */
export interface PostgresBackups {
  /** Runs `work` while its instant is held, which blocks no writer. */
  snapshot<T>(
    url: string,
    meta: string,
    now: Instant,
    work: (snapshot: Snapshot) => Promise<T>,
  ): Promise<T>
  /** Names of the tables of a database; none of an empty one. */
  tables(url: string): Promise<readonly string[]>
  /** What an operator has to know of a restored copy. */
  restored(url: string, now: Instant): Promise<RestoredFacts>
  /** Creates a database beside that of `url`, for a moment. */
  within<T>(url: string, name: string, work: (url: string) => Promise<T>): Promise<T>
}

/** Read before any daemon changes the copy. */
export interface RestoredFacts {
  readonly valid: readonly KnownKey[]
  /** Keys that the restore itself has revoked at `now`. */
  readonly revoked: number
  readonly waiting: readonly Waiting[]
}

const core = nameTables(DEFAULT_PREFIX)
const platform = namePlatformTables(DEFAULT_PREFIX)

/** Counting a large table takes longer than any statement of a daemon. */
const MAX_WAIT: Millis = HOUR

export const postgresBackups: PostgresBackups = {
  snapshot: (url, meta, now, work) =>
    connected(url, async (query) => {
      // Without a number of its own, so that no reader of the feed waits for it.
      await query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
      const [row] = await query<{ name: string }>('SELECT pg_export_snapshot() AS name')
      const facts = await readFacts(query, createDialect(), { core, platform }, meta, now)
      const valid = await validKeys(query, core, now)
      // The instant ends with the connection.
      return work({ name: row?.name ?? '', facts, valid, blobs: await storedBlobs(query) })
    }),
  tables: (url) => connected(url, (query) => tablesIn(query, createDialect())),
  restored: (url, now) =>
    connected(url, async (query) => {
      const [row] = await query<{ count: string }>(
        `SELECT count(*) AS count FROM ${core.keys} WHERE line_revoked = 1 AND updated_at = $1`,
        [now],
      )
      return {
        valid: await validKeys(query, core, now),
        revoked: Number(row?.count),
        waiting: await waitingDeliveries(query, core),
      }
    }),
  async within(url, name, work) {
    const own = new URL(url)
    own.pathname = `/${name}`
    await connected(url, (query) => query(`CREATE DATABASE ${name}`))
    try {
      return await work(own.href)
    } finally {
      await connected(url, (query) => query(`DROP DATABASE ${name} WITH (FORCE)`))
    }
  },
}

async function storedBlobs(query: Query): Promise<StoredBlobs> {
  const rows = await query<{ app_id: string; digests: string }>(
    `SELECT app_id, string_agg(sha256, ' ' ORDER BY sha256) AS digests FROM ${platform.app_bytes}
     WHERE sha256 IS NOT NULL GROUP BY app_id ORDER BY app_id`,
  )
  return Object.fromEntries(rows.map(({ app_id, digests }) => [app_id, digests.split(' ')]))
}

async function connected<T>(url: string, work: (query: Query) => Promise<T>): Promise<T> {
  const source = await fromUrl(url)
  try {
    return await withConnection(source, (client) => work(queryOn(client, MAX_WAIT)))
  } finally {
    await source.end()
  }
}
