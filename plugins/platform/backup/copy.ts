import { openDatabase } from '../../sqlite/open.ts'
import { queryOn } from '../../store/sql/sqlite/statement.ts'

/** Pages copied between two reports of progress: 16 MiB of the usual size. */
const PAGES = 4096

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
  const source = await openDatabase(from, 'read')
  try {
    const query = queryOn(source)
    await query('BEGIN')
    // The snapshot begins with the first read.
    await query('SELECT count(*) FROM sqlite_master')
    await source.copyTo(to, PAGES, progress)
  } finally {
    await source.close()
  }
  await standAlone(to)
}

/** Turns WAL mode off in the copy, which a daemon turns on again: to read it then needs no files beside it. */
async function standAlone(file: string): Promise<void> {
  const copy = await openDatabase(file, 'write')
  try {
    await queryOn(copy)('PRAGMA journal_mode = DELETE')
  } finally {
    await copy.close()
  }
}
