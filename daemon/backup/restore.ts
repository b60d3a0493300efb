import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { toIso } from '../../lib/time.ts'
import type { KnownKey, Waiting } from '../../plugins/registry.ts'
import { openSqliteBackups } from '../../plugins/registry.ts'
import { ConfigError } from '../config/config.ts'
import { markFolder } from '../machine/installation.ts'
import { SENDING_PAUSED, resumedName } from '../sending/paused.ts'
import { restoreBlobs } from './blobs.ts'
import { DATABASE, listBackups, syncPath } from './manifest.ts'
import type { Verified, VerifyOptions } from './verify.ts'
import { verifyBackup } from './verify.ts'

export interface RestoreOptions extends VerifyOptions {
  /** An empty data folder; created when missing. */
  readonly to: string
  /** Revokes every key and ends every session of the copy. */
  readonly revokeAll: boolean
  /** Sends at once what waits. */
  readonly resume: boolean
  /**
   * A data folder, a backup or a database file that is newer: keys that are not valid there are named. Default:
   * the newest backup of the same installation beside this one.
   */
  readonly compare: string | undefined
}

/** What an operator has to know of a restored copy. */
export interface Restored {
  readonly folder: string
  readonly backup: string
  readonly created_at: string
  readonly sending: 'paused' | 'resumed'
  /** Unfinished deliveries: they may have been sent after the backup was made. */
  readonly waiting: { readonly deliveries: number; readonly webhooks: readonly WireWaiting[] }
  readonly keys: {
    readonly valid: number
    readonly revoked: number
    /** Valid here, but not in `compared_with`; null when there is nothing newer to compare with. */
    readonly valid_again: readonly KnownKey[] | null
    readonly compared_with: string | null
  }
  readonly master_key: 'restored' | 'needed'
  /** Ids of the master keys that its secrets are encrypted with. */
  readonly master_keys: readonly string[]
  /** Whether the files of apps are in it; otherwise a plugin stores them. */
  readonly has_blobs: boolean
}

type WireWaiting = Omit<Waiting, 'oldest'> & { readonly oldest: string }

/**
 * Restores a verified backup into an empty folder.
 *
 * The database gets its name last: a daemon refuses a folder whose restore was interrupted.
 *
 * @throws ConfigError naming the remedy
 */
export async function restoreBackup(backup: string, options: RestoreOptions): Promise<Restored> {
  const to = resolve(options.to)
  await requireEmpty(to)
  const verified = await verifyBackup(backup, options)
  const { folder, manifest, masterKeys } = verified
  const compared = await findNewer(verified, options.compare)
  await mkdir(to, { recursive: true, mode: 0o700 })
  await markFolder(to, manifest.installation)
  if (masterKeys !== undefined) {
    await writeFile(join(to, 'master-key'), `${masterKeys}\n`, { mode: 0o600, flush: true })
  }
  await restoreBlobs(folder, manifest, join(to, 'apps'), (restored) => {
    options.progress(`${restored} blobs restored`)
  })
  const unfinished = join(to, `${DATABASE}.unfinished`)
  await copyFile(join(folder, DATABASE), unfinished)
  const report = await judge(unfinished, compared, options)
  await syncPath(unfinished)
  await rename(unfinished, join(to, DATABASE))
  await syncPath(to)
  return {
    folder: to,
    backup: manifest.id,
    created_at: manifest.created_at,
    ...report,
    master_key: masterKeys === undefined ? 'needed' : 'restored',
    master_keys: manifest.master_keys,
    has_blobs: manifest.apps !== null,
  }
}

async function requireEmpty(folder: string): Promise<void> {
  const names = await readdir(folder).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return []
    throw new ConfigError(`${folder} cannot be used: ${cause.message}`, { cause })
  })
  const [first] = names
  if (first === undefined) return
  throw new ConfigError(`${folder} is not empty: it holds ${first}. Restore into an empty folder`)
}

/** Changes the copy, and reports what that means. */
async function judge(
  database: string,
  compared: string | undefined,
  { revokeAll, resume }: RestoreOptions,
): Promise<Pick<Restored, 'sending' | 'waiting' | 'keys'>> {
  const sqlite = await openSqliteBackups()
  const now = Date.now()
  const valid = await sqlite.validKeys(database, now)
  const waiting = await sqlite.waiting(database)
  const pause = randomUUID()
  const paused = { [SENDING_PAUSED]: pause }
  const meta = resume ? { ...paused, [resumedName(pause)]: toIso(now) } : paused
  const revoked = await sqlite.change(database, { meta, revokeAll, now })
  const newer = compared === undefined ? undefined : await sqlite.validKeys(compared, now)
  const still = new Set(newer?.map(({ id }) => id))
  return {
    sending: resume ? 'resumed' : 'paused',
    waiting: {
      deliveries: waiting.reduce((sum, { deliveries }) => sum + deliveries, 0),
      webhooks: waiting.map((one) => ({ ...one, oldest: toIso(one.oldest) })),
    },
    keys: {
      valid: valid.length - revoked,
      revoked,
      valid_again:
        newer === undefined ? null : revokeAll ? [] : valid.filter(({ id }) => !still.has(id)),
      compared_with: compared ?? null,
    },
  }
}

/** The database to compare keys with. */
async function findNewer(
  { folder, manifest }: Verified,
  given: string | undefined,
): Promise<string | undefined> {
  if (given !== undefined) {
    const inFolder = join(resolve(given), DATABASE)
    const file = existsSync(inFolder) ? inFolder : resolve(given)
    if (existsSync(file)) return file
    throw new ConfigError(`--compare ${given} does not exist. Name a data folder or a backup`)
  }
  const others = await listBackups(dirname(folder))
  const newest = others.find(
    ({ manifest: { installation } }) => installation === manifest.installation,
  )
  if (newest === undefined || newest.manifest.created_at <= manifest.created_at) return undefined
  return join(newest.folder, DATABASE)
}
