import { randomBytes } from 'node:crypto'
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { ConfigError, usesPostgres } from '../config/config.ts'
import { unloadedExtensions } from '../composition/extensions/open.ts'
import { ownVersion } from '../machine/own-version.ts'
import type { BlobsOfApps } from './blobs.ts'
import type { Content, Filling } from './content.ts'
import { copySqliteFolder, requireSqliteSource } from './copy-sqlite.ts'
import { dumpPostgres, requirePostgresSource } from './dump-postgres.ts'
import type { Manifest } from './manifest.ts'
import {
  MANIFEST,
  MANIFEST_DIGEST,
  MASTER_KEY,
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
  /** Folder of PostgreSQL's own programs; undefined: those in PATH. */
  readonly programs: string | undefined
}

export interface Created {
  readonly folder: string
  readonly manifest: Manifest
}

/**
 * Backs up what the settings name, whether a daemon serves it or not. A backup is finished when its folder has its
 * name.
 *
 * @throws ConfigError naming the remedy
 */
export async function createBackup(config: Config, options: CreateOptions): Promise<Created> {
  await (usesPostgres(config) ? requirePostgresSource(config) : requireSqliteSource(config))
  const id = newBackupId(new Date())
  const to = resolve(options.to)
  const unfinished = join(to, `.unfinished-${id}`)
  await mkdir(unfinished, { recursive: true, mode: 0o700 })
  try {
    const manifest = await fill(config, { ...options, id, folder: unfinished })
    const folder = join(to, id)
    await rename(unfinished, folder)
    await syncPath(to)
    return { folder, manifest }
  } catch (cause) {
    await rm(unfinished, { recursive: true, force: true })
    throw cause
  }
}

/** `keyhook-20260131T120000000Z-1a2b3c4d`: the names sort by time. */
export function newBackupId(now: Date): string {
  const time = now.toISOString().replaceAll(/[-:.]/g, '')
  return `keyhook-${time}-${randomBytes(4).toString('hex')}`
}

interface Making extends CreateOptions {
  readonly id: string
  /** The folder of the backup. */
  readonly folder: string
}

async function fill(config: Config, making: Making): Promise<Manifest> {
  const { folder, passphrase, progress, programs, id } = making
  const { replaced } = await unloadedExtensions(config)
  const filling: Filling = { folder, hasBlobs: !replaced.has('apps'), progress }
  const content = await (usesPostgres(config)
    ? dumpPostgres(config, filling, programs)
    : copySqliteFolder(config, filling))
  if (passphrase !== undefined) await addMasterKeys(config, folder, passphrase, id)
  const { began, facts, apps } = content
  const manifest: Manifest = {
    format: 1,
    id,
    created_at: new Date(began).toISOString(),
    version: ownVersion(),
    database: usesPostgres(config) ? 'postgres' : 'sqlite',
    installation: facts.installation ?? '',
    schema: facts.schema,
    position: facts.position,
    counts: facts.counts,
    master_keys: [...facts.masterKeys],
    has_master_key: passphrase !== undefined,
    apps: apps === null ? null : copyOf(apps),
    files: await describeFiles(folder, content, passphrase !== undefined),
  }
  await writeManifest(folder, manifest)
  return manifest
}

function copyOf(apps: BlobsOfApps): Record<string, string[]> {
  return Object.fromEntries(Object.entries(apps).map(([app, digests]) => [app, [...digests]]))
}

async function describeFiles(
  folder: string,
  { files: paths }: Content,
  hasMasterKey: boolean,
): Promise<Manifest['files']> {
  const files: Manifest['files'] = []
  for (const path of hasMasterKey ? [...paths, MASTER_KEY] : paths) {
    files.push(await describeFile(folder, path))
  }
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
