import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { openSqliteBackups, reachSqlite } from '../../plugins/registry.ts'
import type { Config } from '../config/config.ts'
import { ConfigError, databaseFile, usesPostgres } from '../config/config.ts'
import { unloadedExtensions } from '../composition/extensions/open.ts'
import { INSTALLATION } from '../machine/installation.ts'
import { ownVersion } from '../machine/own-version.ts'
import type { BlobsOfApps } from './blobs.ts'
import { copyBlobs } from './blobs.ts'
import type { Manifest } from './manifest.ts'
import {
  DATABASE,
  MANIFEST,
  MANIFEST_DIGEST,
  MASTER_KEY,
  blobPath,
  describeFile,
  printManifest,
  syncPath,
} from './manifest.ts'
import { encryptMasterKeys } from './passphrase.ts'

export interface CreateOptions {
  /** Folder of backups; created when missing. */
  readonly to: string
  /** Includes the master keys, encrypted with it; undefined leaves them out. */
  readonly passphrase: string | undefined
  readonly progress: (line: string) => void
}

export interface Created {
  readonly folder: string
  readonly manifest: Manifest
}

/**
 * Backs up a data folder, whether a daemon serves it or not.
 *
 * This process only reads: with a connection of its own, a backup takes neither the writer's turn nor the
 * daemon's event loop or its threads. It is finished when its folder has its name.
 *
 * @throws ConfigError naming the remedy
 */
export async function createBackup(config: Config, options: CreateOptions): Promise<Created> {
  const source = databaseFile(config)
  await requireSource(config, source)
  const id = newId(new Date())
  const to = resolve(options.to)
  const unfinished = join(to, `.unfinished-${id}`)
  await mkdir(unfinished, { recursive: true, mode: 0o700 })
  try {
    const manifest = await fill(config, { ...options, id, source, folder: unfinished })
    const folder = join(to, id)
    await rename(unfinished, folder)
    await syncPath(to)
    return { folder, manifest }
  } catch (cause) {
    await rm(unfinished, { recursive: true, force: true })
    throw cause
  }
}

/** `keyhook-20260131T120000Z-1a2b3c4d`: the names sort by time. */
function newId(now: Date): string {
  const time = now.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return `keyhook-${time}-${randomBytes(4).toString('hex')}`
}

async function requireSource(config: Config, file: string): Promise<void> {
  if (usesPostgres(config)) {
    throw new ConfigError(
      'keyhook backup copies SQLite; back up PostgreSQL with pg_dump, which contains the files of apps too, and keep KEYHOOK_MASTER_KEY beside it',
    )
  }
  if (!existsSync(file)) {
    throw new ConfigError(
      `there is no database at ${file}. Set KEYHOOK_DATA_DIR to that of the daemon`,
    )
  }
  await reachSqlite(file, {
    async inspect(stored) {
      const pending = await stored.pending()
      const isKnown = (await stored.meta(INSTALLATION)) !== undefined
      if (pending.length === 0 && isKnown) return
      throw new ConfigError(
        `${file} is that of an older version. Start the daemon of this version once, which brings it up to date`,
      )
    },
  })
}

interface Filling extends CreateOptions {
  readonly id: string
  /** The database to copy. */
  readonly source: string
  /** The folder of the backup. */
  readonly folder: string
}

async function fill(config: Config, filling: Filling): Promise<Manifest> {
  const { folder, source, passphrase, progress, id } = filling
  const sqlite = await openSqliteBackups()
  const { replaced } = await unloadedExtensions(config)
  const blobs = replaced.has('apps')
    ? undefined
    : await copyBlobs(join(resolve(config.dataDir), 'apps'), folder, (copied) => {
        progress(`${copied} blobs copied`)
      })
  await blobs?.catchUp()
  const began = Date.now()
  const database = join(folder, DATABASE)
  await sqlite.copy(source, database, (share) => {
    progress(`database ${Math.floor(share * 100)} %`)
  })
  await syncPath(database)
  const apps = (await blobs?.finish()) ?? null
  if (passphrase !== undefined) await addMasterKeys(config, folder, passphrase, id)
  const facts = await sqlite.facts(database, INSTALLATION, began)
  const manifest: Manifest = {
    format: 1,
    id,
    created_at: new Date(began).toISOString(),
    version: ownVersion(),
    installation: facts.installation ?? '',
    schema: facts.schema,
    position: facts.position,
    counts: facts.counts,
    master_keys: [...facts.masterKeys],
    has_master_key: passphrase !== undefined,
    apps: apps === null ? null : copyOf(apps),
    files: await describeFiles(folder, apps ?? {}, passphrase !== undefined),
  }
  await writeManifest(folder, manifest)
  return manifest
}

function copyOf(apps: BlobsOfApps): Record<string, string[]> {
  return Object.fromEntries(Object.entries(apps).map(([app, digests]) => [app, [...digests]]))
}

async function describeFiles(
  folder: string,
  apps: BlobsOfApps,
  hasMasterKey: boolean,
): Promise<Manifest['files']> {
  const digests = [...new Set(Object.values(apps).flat())].sort()
  const files = [await describeFile(folder, DATABASE)]
  if (hasMasterKey) files.push(await describeFile(folder, MASTER_KEY))
  for (const sha256 of digests) files.push(await describeFile(folder, blobPath(sha256)))
  return files
}

async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const { text, digest } = printManifest(manifest)
  await writeFile(join(folder, MANIFEST), text, { mode: 0o600, flush: true })
  await writeFile(join(folder, MANIFEST_DIGEST), digest, { mode: 0o600, flush: true })
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) await syncPath(join(entry.parentPath, entry.name))
  }
  await syncPath(folder)
}

async function addMasterKeys(
  config: Config,
  folder: string,
  passphrase: string,
  id: string,
): Promise<void> {
  const keys = config.masterKey?.map(
    ({ id: name, key }) => `${name}:${Buffer.from(key).toString('base64')}`,
  )
  const file = join(resolve(config.dataDir), 'master-key')
  const text =
    keys?.join(',') ??
    (await readFile(file, 'utf8').catch((cause: unknown) => {
      throw new ConfigError(`${file} cannot be read. Set KEYHOOK_MASTER_KEY`, { cause })
    }))
  const encrypted = await encryptMasterKeys(text.trim(), passphrase, id)
  await writeFile(join(folder, MASTER_KEY), encrypted, { mode: 0o600, flush: true })
}
