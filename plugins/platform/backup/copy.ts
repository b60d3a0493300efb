import sqlite3 from 'sqlite3'
import { closeDatabase, openDatabase } from '../../store/sql/sqlite/connection.ts'
import { queryOn } from '../../store/sql/sqlite/statement.ts'

/** Pages copied between two reports of progress: 16 MiB of the usual size. */
const PAGES = 4096

/** SQLite's online backup, which the driver has and its types lack. */
interface Backup {
  readonly remaining: number
  readonly pageCount: number
  readonly completed: boolean
  step(pages: number, done: (failed: Error | null) => void): void
  finish(done: () => void): void
}

interface Source {
  backup(file: string, opened: (failed: Error | null) => void): Backup
}

/**
 * Copies a SQLite file that a daemon may be writing to, page by page, as of one instant.
 *
 * The copy is made in a read transaction of a connection of its own, which blocks no writer in WAL mode, and
 * which keeps the copy from starting again at every write. Rows keep their hidden numbers, by which the index of
 * words knows them; `VACUUM INTO` would number them anew.
 *
 * @param progress from 0 to 1
 */
export async function copySqlite(
  from: string,
  to: string,
  progress: (share: number) => void,
): Promise<void> {
  const source = await openDatabase(from, sqlite3.OPEN_READONLY)
  try {
    const query = queryOn(source)
    await query('BEGIN')
    // The snapshot begins with the first read.
    await query('SELECT count(*) FROM sqlite_master')
    await copyPages(source as unknown as Source, to, progress)
  } finally {
    await closeDatabase(source)
  }
  await standAlone(to)
}

/** Turns WAL mode off in the copy, which a daemon turns on again: to read it then needs no files beside it. */
async function standAlone(file: string): Promise<void> {
  const copy = await openDatabase(file, sqlite3.OPEN_READWRITE)
  try {
    await queryOn(copy)('PRAGMA journal_mode = DELETE')
  } finally {
    await closeDatabase(copy)
  }
}

async function copyPages(
  source: Source,
  to: string,
  progress: (share: number) => void,
): Promise<void> {
  const backup = await new Promise<Backup>((resolve, reject) => {
    const opened: Backup = source.backup(to, (failed) => {
      if (failed === null) resolve(opened)
      else reject(failed)
    })
  })
  try {
    while (!backup.completed) {
      await new Promise<void>((resolve, reject) => {
        backup.step(PAGES, (failed) => {
          if (failed === null) resolve()
          else reject(failed)
        })
      })
      const { remaining, pageCount } = backup
      progress(pageCount > 0 ? 1 - remaining / pageCount : 1)
    }
  } finally {
    await new Promise<void>((resolve) => {
      backup.finish(resolve)
    })
  }
}
