import type { Knex } from 'knex'
import type { Members } from './adapter.ts'
import { hasMembers } from './adapter.ts'

/** What is used of a client of Knex; that of a transaction has one connection. */
interface KnexClient {
  readonly config: { readonly client?: unknown; readonly connection?: unknown }
  acquireConnection(): Promise<object>
}

/**
 * The SQLite file of an instance of Knex over `sqlite3`; undefined for anything else.
 *
 * @throws TypeError for a database in memory
 */
export function sqliteFileOfKnex(database: unknown): string | undefined {
  if (!isKnex(database)) return undefined
  const { client, connection } = clientOf(database).config
  if (client !== 'sqlite3') return undefined
  const filename = hasMembers(connection) ? connection['filename'] : connection
  if (typeof filename === 'string' && filename !== '' && filename !== ':memory:') return filename
  throw new TypeError('a database in memory cannot be shared: give Knex a file as connection')
}

/** Begins a transaction of an instance of Knex, and commits it unless `work` rejects. */
export function runInKnex<T>(
  database: unknown,
  work: (transaction: object) => Promise<T>,
): Promise<T> {
  return (database as Knex).transaction(work)
}

/** Recognized by its shape: an embedder may have another copy of Knex. */
export function isKnex(value: unknown): value is Members {
  if (typeof value !== 'function' || !('client' in value) || !('raw' in value)) return false
  const { client } = value as { readonly client: unknown }
  return hasMembers(client) && typeof client['acquireConnection'] === 'function'
}

export function clientOf(instance: object): KnexClient {
  return (instance as { readonly client: KnexClient }).client
}
