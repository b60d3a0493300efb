import type { Store } from './contract.ts'
import { migrate } from './sql/migrate.ts'
import { openSqlite } from './sql/sqlite.ts'
import { createSqlStore } from './sql/store.ts'
import { nameTables } from './sql/tables.ts'

/** A store that is ready, and the migrations that this opening ran. */
export interface OpenedStore {
  readonly store: Store
  /** Names of the steps taken now, in order; empty when the schema was up to date. */
  readonly migrated: readonly string[]
}

/**
 * Opens the store over a SQLite file, created when missing, with its schema up to date.
 *
 * @param options.tablePrefix begins the name of every table; default `keyhook_`
 * @throws TypeError for a prefix other than lower-case letters, digits and `_`, at most 21
 * @throws Error when the file cannot be opened in WAL mode with synchronous=FULL
 * @example
 * const { store } = await openSqliteStore('keyhook.sqlite')
 */
export async function openSqliteStore(
  file: string,
  options: { readonly tablePrefix?: string } = {},
): Promise<OpenedStore> {
  const tables = nameTables(options.tablePrefix ?? 'keyhook_')
  const client = await openSqlite(file)
  try {
    const migrated = await migrate(client, tables)
    return { store: createSqlStore(client, tables), migrated }
  } catch (cause) {
    await client.close()
    throw cause
  }
}
