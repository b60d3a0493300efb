import { randomBytes } from 'node:crypto'
import { copyFile, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Leftovers } from './leftovers.ts'
import type { BenchPostgres } from './postgres.ts'

export type Database = 'sqlite' | 'postgres'

/** Where a daemon keeps its records. */
export interface Place {
  readonly folder: string
  /** Of SQLite. */
  readonly file: string
  /** Of PostgreSQL. */
  readonly url: string | undefined
  /** The settings of a daemon there. */
  readonly env: Readonly<Record<string, string>>
}

/** One for all places, so that a copy opens what the original sealed. */
export const MASTER_KEY = `k1:${randomBytes(32).toString('base64')}`

/** Of every place. */
export const OWNER = { email: 'owner@example.com', password: 'not-a-secret-of-anyone' }

const SETTINGS = {
  KEYHOOK_PORT: '0',
  KEYHOOK_LOG_LEVEL: 'error',
  KEYHOOK_MASTER_KEY: MASTER_KEY,
  KEYHOOK_OWNER_EMAIL: OWNER.email,
  KEYHOOK_OWNER_PASSWORD: OWNER.password,
}

/** An empty folder of its own, on a database of its own or one that others share. */
export async function folderOn(url: string | undefined, leftovers: Leftovers): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'keyhook-bench-'))
  leftovers.add(() => rm(folder, { recursive: true, force: true }))
  const env = {
    ...SETTINGS,
    KEYHOOK_DATA_DIR: folder,
    ...(url === undefined ? {} : { KEYHOOK_DATABASE_URL: url }),
  }
  return { folder, file: join(folder, 'keyhook.db'), url, env }
}

/** A new place, empty or with what another holds that nobody uses. */
export async function openPlace(
  postgres: BenchPostgres | undefined,
  leftovers: Leftovers,
  from?: Place,
): Promise<Place> {
  if (postgres === undefined) {
    const place = await folderOn(undefined, leftovers)
    if (from !== undefined) await copyDurably(from.file, place.file)
    return place
  }
  const url = await postgres.create(from?.url)
  leftovers.add(() => postgres.drop(url))
  return folderOn(url, leftovers)
}

/** What the copy left to be written back would be paid for by the first syncs that are measured. */
async function copyDurably(from: string, to: string): Promise<void> {
  await copyFile(from, to)
  const handle = await open(to, 'r+')
  await handle.sync()
  await handle.close()
}
