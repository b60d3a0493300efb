import type { OpenOptions, StoredFacts } from '../../plugins/registry.ts'
import { isSequelize, openDatabase } from '../../plugins/registry.ts'
import type { Config } from '../config/config.ts'
import { takeDataFolder } from '../machine/data-folder.ts'
import { holdFile } from '../machine/lock-file.ts'
import { inspectStored } from '../open.ts'
import type { Platform } from '../platform.ts'
import { DATABASE_FORMS, isSqliteUri } from '../config/values.ts'

/** Where an embedded Keyhook keeps its records. */
export interface Place {
  readonly store: Platform['store']
  /** The data folder, where there is one. */
  readonly folder?: string
  readonly masterKeyFile: string | undefined
  close(): Promise<void>
}

/**
 * The embedder's database, or a folder of Keyhook's own; either is held by this process.
 *
 * @throws ConfigError when another process holds it; TypeError for an address of another database
 */
export async function openPlace(
  config: Config,
  given: unknown,
  naming: OpenOptions,
): Promise<Place> {
  if (given === undefined) return openFolder(config, naming)
  const database = typeof given === 'string' ? readAddress(given) : given
  const release = await hold(database, naming)
  try {
    const inspect = (stored: StoredFacts): Promise<void> => inspectStored(stored, config, undefined)
    const { store } = await openDatabase(database, { ...naming, inspect })
    return {
      store,
      masterKeyFile: undefined,
      async close() {
        await store.close()
        await release()
      },
    }
  } catch (cause) {
    await release()
    throw cause
  }
}

async function openFolder(config: Config, naming: OpenOptions): Promise<Place> {
  const folder = await takeDataFolder(config.dataDir, 'create')
  try {
    const masterKeyFile = folder.file('master-key')
    const { store } = await openDatabase(config.databaseUrl ?? folder.file('keyhook.db'), {
      ...naming,
      inspect: (stored) => inspectStored(stored, config, masterKeyFile),
    })
    return {
      store,
      folder: folder.path,
      masterKeyFile,
      async close() {
        await store.close()
        await folder.release()
      },
    }
  } catch (cause) {
    await folder.release()
    throw cause
  }
}

/** The file of `sqlite:<file>`, or the address itself. It may hold a password, and is not repeated. */
function readAddress(database: string): string {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]+):(.*)$/is.exec(database) ?? []
  if (/^postgres(ql)?$/.test(scheme)) return database
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

/** A second process on a SQLite file would take back the first one's claims; PostgreSQL has a lock of its own. */
async function hold(
  database: unknown,
  { tablePrefix = 'keyhook_' }: OpenOptions,
): Promise<() => Promise<void>> {
  const file = sqliteFileOf(database)
  if (file === undefined) return () => Promise.resolve()
  return holdFile(`${file}-${tablePrefix}lock`, {
    name: `The database ${file}`,
    otherwise: 'use another file',
  })
}

function sqliteFileOf(database: unknown): string | undefined {
  if (typeof database === 'string') return /^postgres(ql)?:/.test(database) ? undefined : database
  return isSequelize(database) && database.getDialect() === 'sqlite'
    ? database.options.storage
    : undefined
}
