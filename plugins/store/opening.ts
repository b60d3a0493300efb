import { requirePackages } from '../packages.ts'
import type { SequelizeLike } from './sequelize.ts'
import { isPostgresUrl } from './contract/address.ts'
import { isSequelize } from './sequelize.ts'
import type { Dialect, Query, SqlClient } from './sql/client.ts'
import type { Extension } from './sql/extension.ts'
import { extensionTables, tablesIn } from './sql/extension.ts'
import { isObject } from './sql/joined.ts'
import { coreSteps, migrate } from './sql/migrate.ts'
import type { Step } from './sql/migrations/migration.ts'
import { createDialect } from './sql/postgres/dialect.ts'
import { countServing } from './sql/postgres/notifications.ts'
import { withConnection } from './sql/postgres/with-connection.ts'
import { createMembership } from './sql/postgres/membership.ts'
import type { PgPool, PgSource } from './sql/postgres/source.ts'
import { fromPool, fromSequelize, fromUrl } from './sql/postgres/source.ts'
import { queryOn } from './sql/postgres/statement.ts'
import { SQLITE } from './sql/sqlite/dialect.ts'
import { openPostgres } from './sql/postgres.ts'
import type { EncryptedColumns } from './sql/encrypted-secrets.ts'
import type { SqlStore } from './sql/store.ts'
import { createSqlStore } from './sql/store.ts'
import type { Tables } from './sql/tables.ts'
import { nameTables } from './sql/tables.ts'

/** An open store, and the migrations that this opening ran. */
export interface OpenedStore {
  readonly store: SqlStore
  /** Names of the steps that were run, in order; empty when the schema was up to date. */
  readonly migrated: readonly string[]
  /** The client of the store, for plugins with tables in the same database. It is closed with the store. */
  readonly client: SqlClient
}

export interface OpenOptions {
  /** Prefix of the names of all tables. Default `keyhook_`. */
  readonly tablePrefix?: string
  /**
   * Checks an existing database before its schema is changed. An error that it throws ends the opening
   * without any change.
   */
  readonly inspect?: (stored: StoredFacts) => void | Promise<void>
}

/** Facts about an existing database; a new one has none. */
export interface StoredFacts {
  meta(name: string): Promise<string | undefined>
  /** Names of the migrations that opening the store would run, in order; all of them for a new database. */
  pending(): Promise<readonly string[]>
  /** Every migration of this version, in order, and last those that only a newer version knows. */
  steps(): Promise<readonly StepState[]>
  /** Processes that serve the database; undefined where it does not know. */
  serving(): Promise<number | undefined>
  /** Tables of families of third parties, by the name of each, whether it is still served or not. */
  extensionTables(): Promise<ReadonlyMap<string, readonly string[]>>
}

/** A migration of an existing database. */
export interface StepState extends Pick<Step, 'name' | 'alone'> {
  readonly state: 'applied' | 'pending' | 'of a newer version'
}

/** Additional tables in the same database. */
export interface Beside {
  /** Steps of their schema, run after those of the core. */
  readonly steps: readonly Step[]
  /** Their columns of encrypted texts, which the core re-encrypts with its own. */
  readonly encrypted: EncryptedColumns
  /** Tables of third parties. Default: none. */
  readonly extensions?: readonly Extension[]
}

export const NOTHING: Beside = { steps: [], encrypted: {} }

/** Default prefix of the names of tables. */
export const DEFAULT_PREFIX = 'keyhook_'

/** Opens a database, see `open.ts`, with additional tables. */
export function openAny(
  database: unknown,
  options: OpenOptions,
  beside: Beside,
): Promise<OpenedStore> {
  if (isOfClient(database)) return openOver(database.client, tablesOf(options), options, beside)
  if (typeof database === 'string' && !isPostgresUrl(database)) {
    return openFile(database, options, beside)
  }
  if (isSequelize(database) && database.getDialect() === 'sqlite') {
    return openFile(fileOf(database), options, beside)
  }
  return openServer(database, options, beside)
}

export async function openFile(
  file: string,
  options: OpenOptions,
  beside: Beside,
): Promise<OpenedStore> {
  const tables = tablesOf(options)
  if (/^\w+:\/\//.test(file)) {
    // The address may contain a password, so it is not repeated.
    throw new TypeError(
      'the database is the path of a SQLite file or postgres://…, no other address',
    )
  }
  requirePackages('A SQLite database', ['sqlite3'])
  const { openSqlite } = await import('./sql/sqlite.ts')
  return openOver(await openSqlite(file), tables, options, beside)
}

export async function openServer(
  database: unknown,
  options: OpenOptions,
  beside: Beside,
): Promise<OpenedStore> {
  const tables = tablesOf(options)
  const source = await sourceOf(database)
  await requireReachable(source, database)
  const membership = createMembership(source, tables)
  const client = openPostgres(source, tables, membership)
  return openOver(client, tables, options, beside, () => membership.start())
}

/** A database whose client the caller brings. */
export interface OfClient {
  /** Closed with the store. */
  readonly client: SqlClient
}

function isOfClient(database: unknown): database is OfClient {
  const client = isObject(database) ? database['client'] : undefined
  return isObject(client) && 'dialect' in client && typeof client['transaction'] === 'function'
}

function tablesOf({ tablePrefix = DEFAULT_PREFIX }: OpenOptions): Tables {
  return nameTables(tablePrefix)
}

async function openOver(
  client: SqlClient,
  tables: Tables,
  { inspect, tablePrefix = DEFAULT_PREFIX }: OpenOptions,
  { steps: further, encrypted, extensions = [] }: Beside,
  start: () => Promise<void> = async () => undefined,
): Promise<OpenedStore> {
  const steps = [...coreSteps(tables), ...further]
  try {
    if (inspect !== undefined) await inspect(factsOf(client, tables, steps, tablePrefix))
    const migrated = await migrate(client, tables, steps, { tablePrefix, extensions })
    const { feed } = client.dialect
    await client.transaction(async (query) => feed.prepare?.(query, tables))
    await start()
    return { store: createSqlStore(client, tables, encrypted), migrated, client }
  } catch (cause) {
    await client.close()
    throw cause
  }
}

/**
 * Connects, lets `inspect` judge what is stored, and answers host and port. Nothing is changed.
 *
 * @param further steps of tables beside the core's, for `pending`
 * @throws Error that names host, port and cause, and no credentials; and what `inspect` throws
 */
export async function lookAtPostgres(
  url: string,
  options: OpenOptions,
  further: readonly Step[],
): Promise<string> {
  const source = await fromUrl(url)
  await requireReachable(source, url)
  try {
    const read: Query = (sql, bind) =>
      withConnection(source, (client) => queryOn(client)(sql, bind))
    const tables = tablesOf(options)
    const steps = [...coreSteps(tables), ...further]
    const { tablePrefix = DEFAULT_PREFIX } = options
    await options.inspect?.(factsOf({ dialect: createDialect(), read }, tables, steps, tablePrefix))
  } finally {
    await source.end()
  }
  return hostOf(url)
}

/**
 * Opens an existing SQLite file for reading alone and lets `inspect` judge what is stored. Nothing is changed.
 *
 * @throws Error when the file cannot be read; and what `inspect` throws
 */
export async function lookAtSqlite(
  file: string,
  options: OpenOptions,
  further: readonly Step[],
): Promise<void> {
  requirePackages('A SQLite database', ['sqlite3'])
  const { openReader } = await import('./sql/sqlite/reader.ts')
  const { query, close } = await openReader(file)
  try {
    const tables = tablesOf(options)
    const steps = [...coreSteps(tables), ...further]
    const { tablePrefix = DEFAULT_PREFIX } = options
    await options.inspect?.(factsOf({ dialect: SQLITE, read: query }, tables, steps, tablePrefix))
  } finally {
    await close()
  }
}

/** Reads facts from a schema of any version, or from none. */
function factsOf(
  { dialect, read }: { readonly dialect: Dialect; readonly read: Query },
  t: Tables,
  known: readonly Step[],
  tablePrefix: string,
): StoredFacts {
  const holds = async (table: string): Promise<boolean> =>
    (await tablesIn(read, dialect)).includes(table)
  const steps = async (): Promise<readonly StepState[]> => {
    const rows = (await holds(t.migrations))
      ? await read<{ name: string }>(`SELECT name FROM ${t.migrations} ORDER BY at, name`)
      : []
    return stepStates(
      known,
      rows.map(({ name }) => name),
    )
  }
  return {
    // Not in a transaction, which needs the tables of the lease: they may not exist yet.
    async meta(name) {
      if (!(await holds(t.meta))) return undefined
      const sql = `SELECT value FROM ${t.meta} WHERE name = $1`
      const [row] = await read<{ value: string }>(sql, [name])
      return row?.value
    },
    steps,
    async pending() {
      return (await steps()).filter(({ state }) => state === 'pending').map(({ name }) => name)
    },
    serving: async () => (dialect.name === 'sqlite' ? undefined : countServing(read, t)),
    extensionTables: () => extensionTables(read, dialect, tablePrefix),
  }
}

function stepStates(known: readonly Step[], applied: readonly string[]): readonly StepState[] {
  const done = new Set(applied)
  const names = new Set(known.map(({ name }) => name))
  return [
    ...known.map(({ name, alone }) => {
      const state = done.has(name) ? ('applied' as const) : ('pending' as const)
      return { name, alone, state }
    }),
    ...applied
      .filter((name) => !names.has(name))
      .map((name) => ({ name, alone: false, state: 'of a newer version' as const })),
  ]
}

/**
 * Connects once, so that a server that cannot be reached is named with the reason.
 *
 * @throws Error that names host, port and cause, and no credentials
 */
async function requireReachable(source: PgSource, database: unknown): Promise<void> {
  try {
    const { release } = await source.acquire()
    release()
  } catch (cause) {
    await source.end()
    const host = typeof database === 'string' ? ` at ${hostOf(database)}` : ''
    throw new Error(`PostgreSQL${host} cannot be reached: ${reasonOf(cause)}`)
  }
}

function hostOf(url: string): string {
  const parsed = URL.parse(url)
  return `${parsed?.hostname || 'localhost'}:${parsed?.port || '5432'}`
}

/** Of the addresses of one name, the cause of the first failure. */
function reasonOf(cause: unknown): string {
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause
  return first instanceof Error ? first.message : String(first)
}

async function sourceOf(database: unknown): Promise<PgSource> {
  if (typeof database === 'string') return fromUrl(database)
  if (isSequelize(database) && database.getDialect() === 'postgres') return fromSequelize(database)
  if (isPool(database)) return fromPool(database)
  throw new TypeError('the database is a URL, a pool of pg, or a Sequelize instance')
}

function isPool(value: unknown): value is PgPool {
  return isObject(value) && typeof value['connect'] === 'function' && 'totalCount' in value
}

/** Refuses `:memory:`: every connection to it is a separate database. */
function fileOf({ options: { storage } }: SequelizeLike): string {
  if (storage === undefined || storage === '' || storage === ':memory:') {
    throw new TypeError('a database in memory cannot be shared: give Sequelize a file as storage')
  }
  return storage
}
