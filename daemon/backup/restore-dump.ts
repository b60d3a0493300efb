import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  endOfRestore,
  isPostgresUrl,
  openPostgresBackups,
  reachPostgres,
} from '../../plugins/registry.ts'
import { ConfigError } from '../config/config.ts'
import { INSTALLATION } from '../machine/installation.ts'
import { DUMP } from './manifest.ts'
import { restoreFrom } from './postgres-programs.ts'
import type { Copy, Restoring } from './restore-file.ts'
import { changesOf } from './restore-file.ts'

/**
 * Restores a dump into an empty database, in one transaction that compares it with its manifest and pauses sending:
 * whatever ends it early leaves the database empty.
 *
 * @param prepare makes the folder, with its master key
 * @throws ConfigError for a dump that is not the one that its manifest describes
 */
export async function restoreDump(
  restoring: Restoring,
  prepare: () => Promise<void>,
): Promise<Copy> {
  const { verified, progress, programs, now } = restoring
  const { folder, manifest } = verified
  const url = requirePostgres(restoring.target())
  const postgres = await openPostgresBackups()
  await requireEmpty(url, await postgres.tables(url))
  const { installation, schema, counts } = manifest
  const expected = { installation, schema, counts, meta: INSTALLATION }
  progress('pg_restore runs')
  const end = await endOfRestore(expected, changesOf(restoring))
  await prepare()
  try {
    await restoreFrom(join(folder, DUMP), end, { url, programs })
  } catch (cause) {
    await rm(restoring.to, { recursive: true, force: true })
    throw cause
  }
  return postgres.restored(url, now)
}

/** @throws ConfigError */
export function requirePostgres(url: string | undefined): string {
  if (url !== undefined && isPostgresUrl(url)) return url
  throw new ConfigError(
    'the backup is that of a PostgreSQL database. Set KEYHOOK_DATABASE_URL to an empty one',
  )
}

async function requireEmpty(url: string, [table]: readonly string[]): Promise<void> {
  if (table === undefined) return
  const server = await reachPostgres(url)
  throw new ConfigError(
    `the database of KEYHOOK_DATABASE_URL (${server}) is not empty: it holds ${table}. Restore into an empty one`,
  )
}
