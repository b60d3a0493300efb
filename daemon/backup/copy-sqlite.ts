import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openSqliteBackups, reachSqlite } from '../../plugins/registry.ts'
import type { Config } from '../config/config.ts'
import { ConfigError, databaseFile } from '../config/config.ts'
import { INSTALLATION } from '../machine/installation.ts'
import type { BlobsOfApps } from './blobs.ts'
import { copyBlobs } from './blobs.ts'
import type { Content, Filling } from './content.ts'
import { requireCurrent } from './content.ts'
import { DATABASE, blobPath, syncPath } from './manifest.ts'

/**
 * Copies a data folder, whether a daemon serves it or not. This process only reads: with a connection of its own, a
 * backup takes neither the writer's turn nor the daemon's event loop or its threads.
 *
 * @throws ConfigError when there is no database of this version
 */
export async function copySqliteFolder(config: Config, filling: Filling): Promise<Content> {
  const { folder, progress, hasBlobs } = filling
  const source = databaseFile(config)
  const sqlite = await openSqliteBackups()
  const blobs = hasBlobs
    ? await copyBlobs(join(resolve(config.dataDir), 'apps'), folder, (copied) => {
        progress(`${copied} blobs copied`)
      })
    : undefined
  await blobs?.catchUp()
  const began = Date.now()
  const database = join(folder, DATABASE)
  await sqlite.copy(source, database, (share) => {
    progress(`database ${Math.floor(share * 100)} %`)
  })
  await syncPath(database)
  const apps = (await blobs?.finish()) ?? null
  const facts = await sqlite.facts(database, INSTALLATION, began)
  return { began, facts, apps, files: [DATABASE, ...digestsOf(apps ?? {}).map(blobPath)] }
}

function digestsOf(apps: BlobsOfApps): readonly string[] {
  return [...new Set(Object.values(apps).flat())].sort()
}

/** @throws ConfigError when there is no database of this version */
export async function requireSqliteSource(config: Config): Promise<void> {
  const file = databaseFile(config)
  if (!existsSync(file)) {
    throw new ConfigError(
      `there is no database at ${file}. Set KEYHOOK_DATA_DIR to that of the daemon`,
    )
  }
  await reachSqlite(file, { inspect: (stored) => requireCurrent(stored, file) })
}
