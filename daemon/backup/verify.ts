import { readFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { parseMasterKeys } from '../../lib/engine/keyring.ts'
import {
  isPostgresUrl,
  openSqliteBackups,
  reachPostgres,
  reachSqlite,
} from '../../plugins/registry.ts'
import { INSTALLATION } from '../machine/installation.ts'
import { requireMasterKey } from '../machine/master-key.ts'
import { createRandom } from '../machine/ports.ts'
import type { Manifest } from './manifest.ts'
import { DATABASE, MASTER_KEY, damaged, readManifest, requireFiles } from './manifest.ts'
import { decryptMasterKeys } from './passphrase.ts'

export interface VerifyOptions {
  /** Also decrypts the master key, and proves it with the database. */
  readonly passphrase: string | undefined
  readonly progress: (line: string) => void
}

export interface Verified {
  readonly folder: string
  readonly manifest: Manifest
  /** As `KEYHOOK_MASTER_KEY`; undefined when it is not in the backup, or no passphrase was given. */
  readonly masterKeys: string | undefined
  /** Whether they decrypt the secrets of the database; that of a dump is known once it is restored. */
  readonly secretsProved: boolean
}

/**
 * Proves that a backup is whole: every file has its digest, and a database of SQLite is sound and the one that the
 * manifest describes. A dump is compared with its manifest when it is restored.
 *
 * @throws ConfigError naming what is damaged
 */
export async function verifyBackup(
  backup: string,
  { passphrase, progress }: VerifyOptions,
): Promise<Verified> {
  const folder = resolve(backup)
  const manifest = await readManifest(folder)
  if (basename(folder) !== manifest.id) {
    throw damaged(folder, `it is ${manifest.id}. If it was only renamed, give it that name again`)
  }
  await requireFiles(folder, manifest, (share) => {
    progress(`files verified ${Math.floor(share * 100)} %`)
  })
  const isFile = manifest.database === 'sqlite'
  if (isFile) await requireDescribed(folder, manifest)
  const masterKeys = await readMasterKeys(folder, manifest, passphrase)
  const secretsProved = isFile && masterKeys !== undefined
  if (secretsProved) await requireFitting(join(folder, DATABASE), masterKeys)
  return { folder, manifest, masterKeys, secretsProved }
}

/** @throws ConfigError for a database that is damaged, or is another one */
async function requireDescribed(folder: string, manifest: Manifest): Promise<void> {
  const database = join(folder, DATABASE)
  const sqlite = await openSqliteBackups()
  await sqlite.requireSound(database).catch((cause: unknown) => {
    throw damaged(folder, cause instanceof Error ? cause.message : String(cause))
  })
  const facts = await sqlite.facts(database, INSTALLATION, Date.parse(manifest.created_at))
  const isAsSaid =
    facts.installation === manifest.installation &&
    facts.schema === manifest.schema &&
    facts.position === manifest.position &&
    Object.entries(facts.counts).every(([name, count]) => manifest.counts[name] === count)
  if (!isAsSaid)
    throw damaged(folder, `${DATABASE} is not the database that its manifest describes`)
}

async function readMasterKeys(
  folder: string,
  { has_master_key, id }: Manifest,
  passphrase: string | undefined,
): Promise<string | undefined> {
  if (!has_master_key || passphrase === undefined) return undefined
  return decryptMasterKeys(await readFile(join(folder, MASTER_KEY), 'utf8'), passphrase, id)
}

/**
 * @param database a file of SQLite, or the address of PostgreSQL
 * @throws ConfigError when these keys do not decrypt the secrets of a database
 */
export async function requireFitting(database: string, masterKeys: string): Promise<void> {
  const reach = isPostgresUrl(database) ? reachPostgres : reachSqlite
  await reach(database, {
    async inspect(stored) {
      await requireMasterKey(parseMasterKeys(masterKeys), undefined, stored, createRandom())
    },
  })
}
