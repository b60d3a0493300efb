import { readFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPlatformStore } from '../../plugins/platform/open.ts'

let migrated: Promise<Uint8Array> | undefined

async function migrate(): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'keyhook-migrated-'))
  try {
    const file = join(folder, 'keyhook.sqlite')
    const { store } = await openPlatformStore(file)
    await store.close()
    return await readFile(file)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/**
 * The path of a SQLite file in the folder with every table of the platform and no rows. The migrations run once
 * in a process, and their result is copied: they take five times as long as all else about a world.
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
