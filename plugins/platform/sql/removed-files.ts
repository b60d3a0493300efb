import type { Query, SqlClient } from '../../store/sql/client.ts'
import { removeJobs } from '../jobs/complete.ts'
import type { PlatformTables } from './tables.ts'

/** What a file counts among the rows of a portion, so that many small ones are no large portion. */
const FILE_ROWS = 10

/**
 * Deletes files, and notes them: their chunks and vectors may be many, and whoever writes waits for who deletes
 * them. They go in portions, by whoever purges. Answers whether there were any.
 */
export async function removeFiles(
  query: Query,
  t: PlatformTables,
  which: string,
  bind: readonly unknown[],
): Promise<boolean> {
  await query(
    `INSERT INTO ${t.removed_files} (file_id) SELECT id FROM ${t.files} WHERE ${which}
     ON CONFLICT (file_id) DO NOTHING`,
    bind,
  )
  await removeJobs(query, t, 'file', which, bind)
  const rows = await query(`DELETE FROM ${t.files} WHERE ${which} RETURNING 1 AS one`, bind)
  return rows.length > 0
}

/** Deletes rows of chunks and vectors of a file to which nobody adds any meanwhile, and answers how many. */
export async function deleteChunks(
  query: Query,
  t: PlatformTables,
  fileId: string,
  limit: number,
): Promise<number> {
  let left = limit
  for (const table of [t.file_chunks, t.file_vectors]) {
    if (left === 0) break
    const rows = await query(
      `DELETE FROM ${table} WHERE id IN (
         SELECT id FROM ${table} WHERE file_id = $1 ORDER BY ordinal LIMIT $2) RETURNING 1 AS one`,
      [fileId, left],
    )
    left -= rows.length
  }
  return limit - left
}

/** Deletes a portion of what files have left that are deleted. */
export function purgeRemoved(client: SqlClient, t: PlatformTables, limit: number): Promise<number> {
  return client.transaction(async (query) => {
    for (let left = limit; ;) {
      const [file] = await query<{ file_id: string }>(
        `SELECT file_id FROM ${t.removed_files} ORDER BY file_id LIMIT 1`,
      )
      if (file === undefined) return limit - left
      const deleted = await deleteChunks(query, t, file.file_id, left)
      if (deleted === left) return limit
      await query(`DELETE FROM ${t.removed_files} WHERE file_id = $1`, [file.file_id])
      left -= deleted + FILE_ROWS
      if (left <= 0) return limit
    }
  })
}
