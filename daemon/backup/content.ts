import type { SqliteBackups, StoredFacts } from '../../plugins/registry.ts'
import { ConfigError } from '../config/config.ts'
import { INSTALLATION } from '../machine/installation.ts'
import type { BlobsOfApps } from './blobs.ts'

/** Where the copy of a database is made. */
export interface Filling {
  /** The folder of the backup. */
  readonly folder: string
  /** Whether the files of apps belong to the database; otherwise a plugin stores them. */
  readonly hasBlobs: boolean
  readonly progress: (line: string) => void
}

/** What was copied. */
export interface Content {
  /** When the copy began: it holds everything that was acknowledged before. */
  readonly began: number
  readonly facts: Awaited<ReturnType<SqliteBackups['facts']>>
  readonly apps: BlobsOfApps | null
  /** Paths in the folder, in the order of the manifest. */
  readonly files: readonly string[]
}

/** @throws ConfigError for the schema of another version, and for a database that no daemon has opened */
export async function requireCurrent(stored: StoredFacts, where: string): Promise<void> {
  const pending = await stored.pending()
  if (pending.length === 0 && (await stored.meta(INSTALLATION)) !== undefined) return
  throw new ConfigError(
    `${where} is that of an older version. Start the daemon of this version once, which brings it up to date`,
  )
}
