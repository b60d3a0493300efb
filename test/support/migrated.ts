import { readFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPlatformStore } from '../../plugins/platform/open.ts'

let migrated: Promise<Uint8Array> | undefined

/** A migrated file that processes of one run share: where this is not set each makes its own. */
const SHARED = process.env['KEYHOOK_TEST_MIGRATED']

/** Makes a file with every table of the platform and no rows. */
export async function makeMigrated(file: string): Promise<string> {
  const { store } = await openPlatformStore(file)
  await store.close()
  return file
}

async function migrate(): Promise<Uint8Array> {
  if (SHARED !== undefined) return readFile(SHARED)
  const folder = await mkdtemp(join(tmpdir(), 'keyhook-migrated-'))
  try {
    return await readFile(await makeMigrated(join(folder, 'keyhook.sqlite')))
  } finally {
    await rm(folder, { recursive: true })
  }
}

/**
 * The path of a SQLite file in the folder with every table of the platform and no rows. The migrations run once,
 * and their result is copied: they take five times as long as all else about a world.
 */
export async function migratedFile(folder: string): Promise<string> {
  const file = join(folder, 'keyhook.sqlite')
  migrated ??= migrate()
  // A test that opens its folder again continues with what is there.
  await writeFile(file, await migrated, { flag: 'wx' }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EEXIST') throw cause
  })
  return file
}
