import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openPostgresBackups, reachPostgres } from '../../plugins/registry.ts'
import type { Config } from '../config/config.ts'
import { INSTALLATION } from '../machine/installation.ts'
import type { Content, Filling } from './content.ts'
import { requireCurrent } from './content.ts'
import { DUMP, VALID_KEYS, syncPath } from './manifest.ts'
import { dumpTo } from './postgres-programs.ts'

/**
 * Dumps a database with `pg_dump`, and describes the same instant of it. The files of apps are in the dump.
 *
 * @throws ConfigError when `pg_dump` is missing or fails
 */
export async function dumpPostgres(
  { databaseUrl: url = '' }: Config,
  { folder, progress, hasBlobs }: Filling,
  programs: string | undefined,
): Promise<Content> {
  const postgres = await openPostgresBackups()
  const began = Date.now()
  return postgres.snapshot(url, INSTALLATION, began, async ({ name, facts, valid, blobs }) => {
    progress('pg_dump runs')
    const dump = join(folder, DUMP)
    await dumpTo(dump, name, { url, programs })
    await syncPath(dump)
    const keys = `${JSON.stringify(valid, null, 1)}\n`
    await writeFile(join(folder, VALID_KEYS), keys, { mode: 0o600, flush: true })
    return { began, facts, apps: hasBlobs ? blobs : null, files: [DUMP, VALID_KEYS] }
  })
}

/** @throws ConfigError when the database is not that of this version */
export async function requirePostgresSource({ databaseUrl = '' }: Config): Promise<void> {
  const inspect = { inspect: requireNamed }
  await reachPostgres(databaseUrl, inspect)
}

async function requireNamed(stored: Parameters<typeof requireCurrent>[0]): Promise<void> {
  await requireCurrent(stored, 'the database of KEYHOOK_DATABASE_URL')
}
