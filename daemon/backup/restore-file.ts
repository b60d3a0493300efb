import { randomUUID } from 'node:crypto'
import { copyFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Instant } from '../../lib/time.ts'
import { toIso } from '../../lib/time.ts'
import type { KnownKey, RestoredChanges, Waiting } from '../../plugins/registry.ts'
import { openSqliteBackups } from '../../plugins/registry.ts'
import { markFolder } from '../machine/installation.ts'
import { SENDING_PAUSED, resumedName } from '../sending/paused.ts'
import { restoreBlobs } from './blobs.ts'
import { DATABASE, syncPath } from './manifest.ts'
import type { Verified } from './verify.ts'

export interface Restoring {
  readonly to: string
  readonly verified: Verified
  readonly now: Instant
  readonly revokeAll: boolean
  readonly resume: boolean
  readonly progress: (line: string) => void
  target(): string | undefined
  readonly programs: string | undefined
}

/** A restored database, before any daemon opens it. */
export interface Copy {
  /** Keys that are valid now. */
  readonly valid: readonly KnownKey[]
  /** Keys that the restore has revoked. */
  readonly revoked: number
  readonly waiting: readonly Waiting[]
}

/**
 * Restores a data folder. The database gets its name last: a daemon refuses a folder whose restore was interrupted.
 *
 * @param prepare makes the folder, with its master key
 */
export async function restoreFile(
  restoring: Restoring,
  prepare: () => Promise<void>,
): Promise<Copy> {
  const { to, verified, progress, now } = restoring
  const { folder, manifest } = verified
  await prepare()
  await markFolder(to, manifest.installation)
  await restoreBlobs(folder, manifest, join(to, 'apps'), (restored) => {
    progress(`${restored} blobs restored`)
  })
  const unfinished = join(to, `${DATABASE}.unfinished`)
  await copyFile(join(folder, DATABASE), unfinished)
  const sqlite = await openSqliteBackups()
  const waiting = await sqlite.waiting(unfinished)
  const revoked = await sqlite.change(unfinished, changesOf(restoring))
  const valid = await sqlite.validKeys(unfinished, now)
  await syncPath(unfinished)
  await rename(unfinished, join(to, DATABASE))
  await syncPath(to)
  return { valid, revoked, waiting }
}

/** What a restore changes in its copy. */
export function changesOf({
  revokeAll,
  resume,
  now,
}: Pick<Restoring, 'revokeAll' | 'resume' | 'now'>): RestoredChanges {
  const pause = randomUUID()
  const paused = { [SENDING_PAUSED]: pause }
  const meta = resume ? { ...paused, [resumedName(pause)]: toIso(now) } : paused
  return { meta, revokeAll, now }
}
