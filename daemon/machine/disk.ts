import { stat, statfs } from 'node:fs/promises'

/** Room of the disk that holds the data folder, and what the database uses of it. */
export interface DiskUse {
  readonly free_bytes: number
  readonly total_bytes: number
  /** Null when the database is on another machine. */
  readonly database_bytes: number | null
}

/** @param database its file; undefined: it is on another machine */
export async function measureDisk(folder: string, database: string | undefined): Promise<DiskUse> {
  const { bavail, blocks, bsize } = await statfs(folder)
  return {
    free_bytes: bavail * bsize,
    total_bytes: blocks * bsize,
    database_bytes: database === undefined ? null : await sizeOf(database),
  }
}

/** With the log of its latest changes. */
async function sizeOf(file: string): Promise<number> {
  const sizes = [file, `${file}-wal`].map(async (one) => {
    try {
      return (await stat(one)).size
    } catch {
      return 0
    }
  })
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
