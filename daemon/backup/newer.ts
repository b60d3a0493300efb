import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Instant } from '../../lib/time.ts'
import type { KnownKey } from '../../plugins/registry.ts'
import { openSqliteBackups } from '../../plugins/registry.ts'
import { ConfigError } from '../config/config.ts'
import { DATABASE, VALID_KEYS, listBackups } from './manifest.ts'
import type { Verified } from './verify.ts'

/** What the keys of a copy are compared with. */
export interface Newer {
  readonly path: string
  readonly valid: readonly KnownKey[]
}

/**
 * Keys that are valid in something newer: what `given` names, or the newest backup of the same installation beside
 * this one; undefined when there is none.
 *
 * @throws ConfigError
 */
export async function findNewer(
  verified: Verified,
  given: string | undefined,
  now: Instant,
): Promise<Newer | undefined> {
  const path = given === undefined ? await newestBeside(verified) : requireGiven(given)
  if (path === undefined) return undefined
  return { path, valid: await validIn(path, now) }
}

/** Files by which keys are known, in a folder. */
const FILES = [DATABASE, VALID_KEYS]

function requireGiven(given: string): string {
  const inFolder = FILES.map((name) => join(resolve(given), name)).find((file) => existsSync(file))
  const file = inFolder ?? resolve(given)
  if (existsSync(file)) return file
  throw new ConfigError(`--compare ${given} does not exist. Name a data folder or a backup`)
}

async function newestBeside({ folder, manifest }: Verified): Promise<string | undefined> {
  const others = await listBackups(dirname(folder))
  const newest = others.find(
    ({ manifest: { installation } }) => installation === manifest.installation,
  )
  if (newest === undefined || newest.manifest.created_at <= manifest.created_at) return undefined
  return join(newest.folder, newest.manifest.database === 'sqlite' ? DATABASE : VALID_KEYS)
}

async function validIn(file: string, now: Instant): Promise<readonly KnownKey[]> {
  if (!file.endsWith(VALID_KEYS)) return (await openSqliteBackups()).validKeys(file, now)
  return JSON.parse(await readFile(file, 'utf8')) as readonly KnownKey[]
}
