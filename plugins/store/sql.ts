/**
 * What a client of another SQL database or driver is made of: the store itself is written over it, in the dialect of
 * SQLite or of PostgreSQL.
 *
 * @example
 * import { openStore } from 'keyhook/plugins/store/sqlite'
 * import { SQLITE, createOneWriterClient } from 'keyhook/plugins/store/sql'
 *
 * const client = createOneWriterClient({ dialect: SQLITE, read, statement, transact, join, close })
 * const { store } = await openStore({ client })
 *
 * @module
 */
export type {
  Dialect,
  Feed,
  Groups,
  Purpose,
  Query,
  SqlClient,
  TransactionOptions,
} from './sql/client.ts'
export type { OneWriterParts } from './sql/one-writer.ts'
export { createOneWriterClient } from './sql/one-writer.ts'
export { createDialect as createPostgresDialect } from './sql/postgres/dialect.ts'
export { SQLITE } from './sql/sqlite/dialect.ts'
export { numbered } from './sql/sqlite/statement.ts'
export type { Tables } from './sql/tables.ts'
