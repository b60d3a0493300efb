import type { Records } from '../../plugins/platform/contract/records.ts'
import type { OpenOptions } from '../../plugins/registry.ts'
import {
  APP_BYTES,
  isPostgresUrl,
  isSequelize,
  openDatabase,
  sqliteFileOfKnex,
} from '../../plugins/registry.ts'
import type { AppBytes } from '../../plugins/apps/contract.ts'
import type { Config } from '../config/config.ts'
import { takeDataFolder } from '../machine/data-folder.ts'
import { holdFile } from '../machine/lock-file.ts'
import { clockOf } from '../machine/ports.ts'
import { DATABASE_FORMS, isSqliteUri } from '../config/values.ts'
import type { Closers } from '../composition/closers.ts'
import { openInOrder } from '../composition/closers.ts'
import { requireOwnOutbox } from '../composition/outbox.ts'
import type { Inspect, Storage } from '../composition/open.ts'

/** Store of an embedded Keyhook. */
export interface EmbeddedStorage extends Storage {
  /** The data folder, if any. */
  readonly folder?: string
}

/** Tables, their prefix, and whether apps have files here. */
export interface Contents extends Pick<OpenOptions, 'tablePrefix'> {
  /** Tables of the embedder's families. */
  readonly records: readonly Records[]
  /** Whether the files of apps are stored here. */
  readonly apps: boolean
}

/**
 * Opens the embedder's database, or a folder of Keyhook's own; this process then holds it.
 *
 * @throws ConfigError when another process holds it; TypeError for an address of another database
 */
export function openStorage(
  config: Config,
  given: unknown,
  contents: Contents,
  inspect: Inspect,
): Promise<EmbeddedStorage> {
  return openInOrder((closers) =>
    given === undefined
      ? openFolder(config, contents, inspect, closers)
      : openGiven(
          config,
          typeof given === 'string' ? readAddress(given) : given,
          contents,
          inspect,
          closers,
        ),
  )
}

async function openGiven(
  config: Config,
  database: unknown,
  contents: Contents,
  inspect: Inspect,
  closers: Closers,
): Promise<Omit<EmbeddedStorage, 'close'>> {
  const file = sqliteFileOf(database)
  if (file !== undefined) await requireOwnOutbox(config, file)
  const release = await hold(database, contents)
  closers.push(release)
  const opened = typeof database === 'function' ? file : database
  const { apps, ...options } = contents
  const kept = await openDatabase(opened, {
    ...options,
    inspect: (stored) => inspect(stored, undefined),
  })
  const { store } = kept
  closers.push(() => store.close())
  const appBytes = apps ? await openInDatabase(kept, closers) : undefined
  return { store, appBytes, masterKeyFile: undefined }
}

async function openFolder(
  config: Config,
  contents: Contents,
  inspect: Inspect,
  closers: Closers,
): Promise<Omit<EmbeddedStorage, 'close'>> {
  const folder = await takeDataFolder(config.dataDir, 'create')
  closers.push(() => folder.release())
  const location = config.databaseUrl ?? folder.file('keyhook.db')
  if (!isPostgresUrl(location)) await requireOwnOutbox(config, location)
  const masterKeyFile = folder.file('master-key')
  const { apps, ...options } = contents
  const kept = await openDatabase(location, {
    ...options,
    inspect: (stored) => inspect(stored, masterKeyFile),
  })
  const { store } = kept
  closers.push(() => store.close())
  const appBytes = apps ? await openInDatabase(kept, closers) : undefined
  return { store, appBytes, folder: folder.path, masterKeyFile }
}

/** Beside their records, wherever those are: an embedder backs up one thing. */
async function openInDatabase(
  { store, client }: Awaited<ReturnType<typeof openDatabase>>,
  closers: Closers,
): Promise<AppBytes> {
  const bytes = await APP_BYTES.database({ client, clock: clockOf(store) })
  closers.push(() => bytes.close())
  return bytes
}

/** The file of `sqlite:<file>`, or the address itself, which may hold a password and is never repeated. */
function readAddress(database: string): string {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]+):(.*)$/is.exec(database) ?? []
  if (isPostgresUrl(database)) return database
  const file = scheme === 'sqlite' ? rest.replace(/^\/\//, '') : database
  if (scheme !== 'sqlite' && rest.startsWith('//')) {
    throw new TypeError(
      `createKeyhook: options.database is an address of ${scheme}:, and Keyhook keeps its records in ` +
        'SQLite or PostgreSQL: give the path of a SQLite file, postgres://…, or a Sequelize instance of either',
    )
  }
  if (/^file$/i.test(scheme) || (scheme === 'sqlite' && isSqliteUri(file))) {
    throw new TypeError(
      `createKeyhook: options.database must be the path of a SQLite file, ${DATABASE_FORMS}`,
    )
  }
  if (file === ':memory:' || file === '') {
    throw new TypeError(
      'createKeyhook: options.database must be a file: a database in memory loses every event',
    )
  }
  return file
}

/** A second process on a SQLite file would take over the first one's claims; PostgreSQL has its own lock. */
async function hold(
  database: unknown,
  { tablePrefix = 'keyhook_' }: Pick<Contents, 'tablePrefix'>,
): Promise<() => Promise<void>> {
  const file = sqliteFileOf(database)
  if (file === undefined) return () => Promise.resolve()
  return holdFile(`${file}-${tablePrefix}lock`, {
    name: `The database ${file}`,
    otherwise: 'use another file',
  })
}

function sqliteFileOf(database: unknown): string | undefined {
  if (typeof database === 'string') return isPostgresUrl(database) ? undefined : database
  return isSequelize(database) && database.getDialect() === 'sqlite'
    ? database.options.storage
    : sqliteFileOfKnex(database)
}
