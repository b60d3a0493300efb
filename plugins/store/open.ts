import type { Kind } from '../../lib/internal/arguments.ts'
import {
  FUNCTION,
  NAME,
  TEXT,
  declareArguments,
  optional,
  optionsOf,
} from '../../lib/internal/arguments.ts'
import type { OpenOptions, OpenedStore } from './opening.ts'
import { NOTHING, openAny, openFile, openServer } from './opening.ts'
import { isObject } from './sql/joined.ts'

export type { OpenOptions, OpenedStore, StoredFacts } from './opening.ts'

const OPTIONS = optionsOf({
  tablePrefix: optional(TEXT),
  inspect: optional(FUNCTION),
} satisfies Record<keyof OpenOptions, Kind>)
const DATABASE = { allowed: 'a URL, a pool of pg, or a Sequelize instance', accepts: isDatabase }

const readStore = declareArguments('openStore', {
  database: {
    ...DATABASE,
    allowed: `${DATABASE.allowed}, the path of a SQLite file, or { client }`,
  },
  options: OPTIONS,
})
const readSqlite = declareArguments('openSqliteStore', { file: NAME, options: OPTIONS })
const readPostgres = declareArguments('openPostgresStore', { database: DATABASE, options: OPTIONS })

function isDatabase(value: unknown): boolean {
  return NAME.accepts(value) || isObject(value)
}

/**
 * Opens the store over a database: a `postgres://` URL, a pool of `pg`, a Sequelize instance of dialect
 * `postgres` or `sqlite`, the path of a SQLite file, or `{ client }` with a client of another database or driver
 * (`keyhook/plugins/store/sql`).
 *
 * A pool or an instance that was passed in is never closed; a client is closed with the store.
 *
 * @throws TypeError for anything else, for `:memory:`, and for a prefix or a pool that cannot be used
 * @throws Error when it cannot be opened
 */
export async function openStore(
  ...args: readonly [database: unknown, options?: OpenOptions]
): Promise<OpenedStore> {
  const [database, options = {}] = readStore(args) as typeof args
  return openAny(database, options, NOTHING)
}

/**
 * Opens the store over a SQLite file, created when missing, with its schema up to date.
 *
 * @throws TypeError for a prefix other than lower-case letters, digits and `_`, at most 21
 * @throws Error when the file cannot be opened in WAL mode with synchronous=FULL
 * @example
 * const { store } = await openSqliteStore('keyhook.sqlite')
 */
export async function openSqliteStore(
  ...args: readonly [file: string, options?: OpenOptions]
): Promise<OpenedStore> {
  const [file, options = {}] = readSqlite(args) as typeof args
  return openFile(file, options, NOTHING)
}

/**
 * Opens the store over a PostgreSQL database, 13 or later, with its schema up to date.
 *
 * Any number of processes may open it. Each holds one connection of its pool while it is open.
 *
 * @param database a URL, a pool of `pg`, or a Sequelize instance of dialect `postgres`
 * @throws TypeError for anything else, a prefix that is no name, and a pool of less than 3 connections
 * @throws Error while a process of version 0.1 serves the database, which does so alone
 */
export async function openPostgresStore(
  ...args: readonly [database: unknown, options?: OpenOptions]
): Promise<OpenedStore> {
  const [database, options = {}] = readPostgres(args) as typeof args
  return openServer(database, options, NOTHING)
}
