import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import {
  APP_BYTES,
  openDatabase,
  openPostgresBackups,
  openSqliteBackups,
} from '../../plugins/registry.ts'
import type { Config } from '../config/config.ts'
import { INSTALLATION } from '../machine/installation.ts'
import type { Manifest } from './manifest.ts'
import { DATABASE, damaged } from './manifest.ts'
import { requireListed, requireNamedBlobs } from './named-blobs.ts'
import { requirePostgres } from './restore-dump.ts'
import type { Restored } from './restore.ts'
import { restoreBackup } from './restore.ts'
import type { VerifyOptions } from './verify.ts'
import { requireFitting, verifyBackup } from './verify.ts'

export interface DrillOptions extends VerifyOptions {
  /** Where the copy is made for a moment. Default: the folder of the system. */
  readonly within: string | undefined
  /** Folder of PostgreSQL's own programs; undefined: those in PATH. */
  readonly programs: string | undefined
}

export interface Drilled {
  readonly backup: string
  readonly created_at: string
  readonly counts: Manifest['counts']
  readonly waiting: Restored['waiting']
  /** Migrations that this version would run on it. */
  readonly migrated: readonly string[]
  /** Whether its secrets were decrypted; false when the key was neither in it nor configured. */
  readonly secrets_proved: boolean
}

/**
 * Restores a backup into a folder of its own, or a database of its own on the server of the settings, opens it as a
 * daemon would, compares what it holds, and deletes it.
 *
 * @throws ConfigError naming what a restore would lack
 */
export async function drillBackup(
  config: Pick<Config, 'masterKey' | 'databaseUrl'>,
  backup: string,
  { within, ...options }: DrillOptions,
): Promise<Drilled> {
  const { manifest } = await verifyBackup(backup, { ...options, passphrase: undefined })
  const place = await mkdtemp(join(within ?? tmpdir(), 'keyhook-drill-'))
  try {
    const to = join(place, 'data')
    const drill = (database: string): Promise<Drilled> =>
      drillIn({ to, database, backup, configured: printKeys(config) }, options)
    if (manifest.database === 'sqlite') return await drill(join(to, DATABASE))
    const name = `keyhook_drill_${randomBytes(6).toString('hex')}`
    const postgres = await openPostgresBackups()
    return await postgres.within(requirePostgres(config.databaseUrl), name, drill)
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

interface Drilling {
  readonly to: string
  /** The file of the copy, or its address. */
  readonly database: string
  readonly backup: string
  readonly configured: string | undefined
}

async function drillIn(
  { to, database, backup, configured }: Drilling,
  options: Omit<DrillOptions, 'within'>,
): Promise<Drilled> {
  const quiet = { revokeAll: false, resume: false, compare: undefined, target: () => database }
  const restored = await restoreBackup(backup, { ...options, ...quiet, to })
  const { manifest, masterKeys } = await verifyBackup(backup, {
    ...options,
    progress: () => undefined,
  })
  const keys = masterKeys ?? configured
  if (keys !== undefined) await requireFitting(database, keys)
  const { migrated } = await openCopy(database, to, manifest, options.progress)
  return {
    backup: manifest.id,
    created_at: manifest.created_at,
    counts: manifest.counts,
    waiting: restored.waiting,
    migrated,
    secrets_proved: keys !== undefined,
  }
}

function printKeys({ masterKey }: Pick<Config, 'masterKey'>): string | undefined {
  return masterKey?.map(({ id, key }) => `${id}:${Buffer.from(key).toString('base64')}`).join(',')
}

/** Opens the copy with its store, and looks for every blob that a revision or a release names. */
async function openCopy(
  database: string,
  folder: string,
  manifest: Manifest,
  progress: (line: string) => void,
): Promise<{ readonly migrated: readonly string[] }> {
  const isFile = manifest.database === 'sqlite'
  const { store, client, migrated } = await openDatabase(database)
  try {
    if (manifest.apps !== null) {
      const bytes = isFile
        ? await APP_BYTES.disk({ folder: join(folder, 'apps'), clock: Date })
        : await APP_BYTES.database({ client, clock: Date })
      if (!isFile) {
        const { read } = await requireListed(bytes, manifest.apps, manifest.id)
        progress(`${read} bytes of blobs read`)
      }
      for await (const app of appsOf(store)) {
        await requireNamedBlobs(store, bytes, app, manifest.id)
        progress(`app ${app} is whole`)
      }
    }
  } finally {
    await store.close()
  }
  // What a dump holds was compared in the transaction that restored it.
  if (isFile) await requireCounts(database, manifest)
  return { migrated }
}

async function requireCounts(file: string, manifest: Manifest): Promise<void> {
  const { counts } = await (await openSqliteBackups()).facts(file, INSTALLATION, Date.now())
  const differing = Object.entries(counts).find(([name, count]) => manifest.counts[name] !== count)
  if (differing !== undefined) {
    throw damaged(manifest.id, `the restored copy holds ${differing[1]} ${differing[0]}`)
  }
}

/** Every app of every account, archived ones too. */
async function* appsOf(store: PlatformStore): AsyncGenerator<string> {
  const every = { ids: null, archived: 'include', status: null, alias: null, limit: 100 } as const
  for (let after: string | null = null, more = true; more;) {
    const accounts: Awaited<ReturnType<typeof store.accounts.list>> = await store.accounts.list({
      limit: 100,
      after,
    })
    for (const { id: account_id } of accounts.rows) {
      for (let last: string | null = null, moreApps = true; moreApps;) {
        const apps: Awaited<ReturnType<typeof store.apps.list>> = await store.apps.list({
          ...every,
          account_id,
          after: last,
        })
        yield* apps.rows.map(({ id }) => id)
        last = apps.next ?? apps.rows.at(-1)?.id ?? null
        moreApps = apps.more
      }
    }
    after = accounts.rows.at(-1)?.id ?? null
    more = accounts.more
  }
}
