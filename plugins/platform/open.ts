import { requirePackages } from '../packages.ts'
import type { OpenOptions, OpenedStore } from '../store/opening.ts'
import { DEFAULT_PREFIX, lookAtPostgres, lookAtSqlite, openAny } from '../store/opening.ts'
import { stepsOf } from '../store/sql/migrate.ts'
import type { PlatformStore } from './contract.ts'
import type { Records } from './contract/records.ts'
import type { Dialect } from '../store/sql/client.ts'
import type { Models } from './model/sequelize.ts'
import { MODELS } from './models.ts'
import { PLATFORM_MIGRATIONS } from './nouns.ts'
import { extensionOf } from './sql/records.ts'
import { createPlatformStore } from './sql/store.ts'
import type { PlatformTables } from './sql/tables.ts'
import { namePlatformTables } from './sql/tables.ts'

/** A platform store that is ready, and the core that it stands on. */
export interface OpenedPlatform extends Omit<OpenedStore, 'store'> {
  readonly store: PlatformStore
}

export interface PlatformOptions extends OpenOptions {
  /** Tables of families of third parties. Default: none. */
  readonly records?: readonly Records[]
}

/**
 * Opens the core store with the platform's tables beside it, over whatever `openStore` takes.
 *
 * @throws TypeError for what is no database
 * @throws Error when it cannot be opened
 */
export async function openPlatformStore(
  database: unknown,
  { records = [], ...options }: PlatformOptions = {},
): Promise<OpenedPlatform> {
  // First of all: the core alone would migrate its schema without it.
  requirePackages('The platform', ['sequelize'])
  const tables = tablesOf(options)
  const steps = stepsOf(PLATFORM_MIGRATIONS, tables)
  const { tablePrefix = DEFAULT_PREFIX } = options
  const extensions = records.map((one) => extensionOf(tablePrefix, one))
  const beside = { steps, encrypted: encryptedIn(tables), extensions }
  const opened = await openAny(database, options, beside)
  const { client } = opened
  const models = await openModels(client.dialect.name, tables)
  const store = createPlatformStore(opened.store, client, tables, models, tablePrefix)
  return { ...opened, store }
}

const models = new Map<string, Models>()
/** Sequelize asks for a driver of SQLite, which its models, without a connection of their own, never use. */
const NO_DRIVER = {}

/**
 * Sequelize is loaded with the platform, never with the core alone. Stores of one process share models, which
 * hold no connection: to declare them takes as long as all else about opening a store.
 */
export async function openModels(
  dialect: Dialect['name'],
  tables: PlatformTables,
): Promise<Models> {
  const { createModels } = await import('./model/sequelize.ts')
  const driver = dialect === 'sqlite' ? NO_DRIVER : (await import('pg')).default
  const key = `${dialect} ${tables.jobs}`
  const known = models.get(key) ?? createModels(dialect, driver, tables, MODELS)
  models.set(key, known)
  return known
}

/** The columns of encrypted texts in tables of the platform. */
export function encryptedIn(tables: PlatformTables) {
  return { service_secret: { table: tables.service_secrets, id: 'id', column: 'sealed' } }
}

/** As `lookAtPostgres`; `pending` counts the platform's steps too. */
export function reachPlatformPostgres(url: string, options: OpenOptions): Promise<string> {
  return lookAtPostgres(url, options, stepsOf(PLATFORM_MIGRATIONS, tablesOf(options)))
}

/** As `lookAtSqlite`; `pending` counts the platform's steps too. */
export function reachPlatformSqlite(file: string, options: OpenOptions): Promise<void> {
  return lookAtSqlite(file, options, stepsOf(PLATFORM_MIGRATIONS, tablesOf(options)))
}

function tablesOf({ tablePrefix = DEFAULT_PREFIX }: OpenOptions): PlatformTables {
  return namePlatformTables(tablePrefix)
}
