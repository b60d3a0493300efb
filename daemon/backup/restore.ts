import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { toIso } from '../../lib/time.ts'
import type { KnownKey, Waiting } from '../../plugins/registry.ts'
import { ConfigError } from '../config/config.ts'
import { findNewer } from './newer.ts'
import { restoreDump } from './restore-dump.ts'
import type { Copy, Restoring } from './restore-file.ts'
import { restoreFile } from './restore-file.ts'
import type { VerifyOptions } from './verify.ts'
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
  /** The empty database that a dump of PostgreSQL is restored into. */
  target(): string | undefined
  /** Folder of PostgreSQL's own programs; undefined: those in PATH. */
  readonly programs: string | undefined
}

/** What an operator has to know of a restored copy. */
export interface Restored {
  readonly folder: string
  readonly database: 'sqlite' | 'postgres'
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

const RESTORES = { sqlite: restoreFile, postgres: restoreDump } as const

/**
 * Restores a verified backup into an empty folder, and a dump of PostgreSQL into an empty database.
 *
 * @throws ConfigError naming the remedy
 */
export async function restoreBackup(backup: string, options: RestoreOptions): Promise<Restored> {
  const to = resolve(options.to)
  await requireEmpty(to)
  const verified = await verifyBackup(backup, options)
  const { manifest, masterKeys } = verified
  const now = Date.now()
  const newer = await findNewer(verified, options.compare, now)
  const restore = RESTORES[manifest.database]
  const restoring: Restoring = { ...options, to, verified, now }
  const copy = await restore(restoring, async () => {
    await mkdir(to, { recursive: true, mode: 0o700 })
    if (masterKeys === undefined) return
    await writeFile(join(to, 'master-key'), `${masterKeys}\n`, { mode: 0o600, flush: true })
  })
  return {
    folder: to,
    database: manifest.database,
    backup: manifest.id,
    created_at: manifest.created_at,
    sending: options.resume ? 'resumed' : 'paused',
    waiting: describeWaiting(copy),
    keys: {
      valid: copy.valid.length,
      revoked: copy.revoked,
      valid_again: newer === undefined ? null : validAgain(copy.valid, newer.valid),
      compared_with: newer?.path ?? null,
    },
    master_key: masterKeys === undefined ? 'needed' : 'restored',
    master_keys: manifest.master_keys,
    has_blobs: manifest.apps !== null,
  }
}

function describeWaiting({ waiting }: Copy): Restored['waiting'] {
  return {
    deliveries: waiting.reduce((sum, { deliveries }) => sum + deliveries, 0),
    webhooks: waiting.map((one) => ({ ...one, oldest: toIso(one.oldest) })),
  }
}

function validAgain(valid: readonly KnownKey[], newer: readonly KnownKey[]): readonly KnownKey[] {
  const still = new Set(newer.map(({ id }) => id))
  return valid.filter(({ id }) => !still.has(id))
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
