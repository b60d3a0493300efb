import { randomUUID } from 'node:crypto'
import { open, readFile, readdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { StoredFacts } from '../../plugins/registry.ts'
import type { Store } from '../../plugins/store/contract.ts'
import { ConfigError } from '../config/config.ts'

/** Name of the row with the id of an installation, which its backups and its data folder carry too. */
export const INSTALLATION = 'installation_id'

/** Name of the file with that id in the data folder. */
export const INSTALLATION_FILE = 'keyhook.id'

/** Files and folders of a data folder that only exist once its database does. */
const BESIDE_DATABASE: readonly {
  readonly name: string
  readonly what: string
  readonly isThere: (path: string) => Promise<boolean>
}[] = [
  { name: INSTALLATION_FILE, what: 'the id of an installation', isThere: isFile },
  { name: 'master-key', what: 'a master key', isThere: isFile },
  { name: 'apps', what: 'files of apps', isThere: hasApps },
]

/**
 * Refuses an empty database beside what only an earlier one can have left: serving it would hide that the
 * database is gone, or was copied without its write-ahead log.
 *
 * The brand is the first row of a start, and everything in the folder is created after it: a first start that
 * was killed is continued.
 *
 * @throws ConfigError
 */
export async function requireDatabase(
  folder: string,
  stored: Pick<StoredFacts, 'meta'>,
): Promise<void> {
  if ((await stored.meta('brand')) !== undefined) return requireSameInstallation(folder, stored)
  for (const { name, what, isThere } of BESIDE_DATABASE) {
    if (!(await isThere(join(folder, name)))) continue
    throw new ConfigError(
      `the database is empty, but ${folder} holds ${what} (${name}): its database is gone, or was copied ` +
        'without the files beside it (keyhook.db-wal). Restore a backup with `keyhook backup restore`, put ' +
        'keyhook.db and keyhook.db-wal back, or set KEYHOOK_DATA_DIR to an empty folder to begin anew',
    )
  }
}

/** @throws ConfigError for the database of another installation */
async function requireSameInstallation(
  folder: string,
  stored: Pick<StoredFacts, 'meta'>,
): Promise<void> {
  const own = await readId(folder)
  const kept = await stored.meta(INSTALLATION)
  // A database from before there were ids gets one.
  if (own === undefined || kept === undefined || own === kept) return
  throw new ConfigError(
    `the database is that of installation ${kept}, but ${folder} belongs to ${own} (${INSTALLATION_FILE}). ` +
      `Put back the database of this folder, or remove ${INSTALLATION_FILE} if the folder is to have this one`,
  )
}

/** Gives the database its id, and the data folder its file with it, last of all that a first start creates. */
export async function keepInstallation({
  accounts,
  write,
}: Pick<Store, 'accounts' | 'write'>): Promise<string> {
  const kept = await accounts.meta(INSTALLATION)
  return kept ?? write((tx) => tx.accounts.putMetaOnce(INSTALLATION, randomUUID()))
}

/** Writes the id into the folder, unless it is there. */
export async function markFolder(folder: string, id: string): Promise<void> {
  if ((await readId(folder)) !== undefined) return
  const file = join(folder, INSTALLATION_FILE)
  const unfinished = `${file}.unfinished`
  const handle = await open(unfinished, 'w', 0o600)
  try {
    await handle.writeFile(`${id}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(unfinished, file)
}

async function readId(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, INSTALLATION_FILE), 'utf8').catch(() => undefined)
  return text === undefined || text.trim() === '' ? undefined : text.trim()
}

async function isFile(path: string): Promise<boolean> {
  const names = await readdir(dirname(path)).catch(() => [])
  return names.some((name) => join(dirname(path), name) === path)
}

/** An app's folder; those of unfinished writes begin with a dot. */
async function hasApps(path: string): Promise<boolean> {
  return (await readdir(path).catch(() => [])).some((name) => !name.startsWith('.'))
}
