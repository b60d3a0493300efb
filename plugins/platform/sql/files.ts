import type { FileReads, FileRecord, FileWrites } from '../contract/files.ts'
import type { JobWrites } from '../contract/jobs.ts'
import { changes, isHeld, whileHeld } from '../jobs/held.ts'
import type { Dialect, Query } from '../../store/sql/client.ts'
import { COLUMNS, toChunk, toFile, toValues } from './file-rows.ts'
import { searchPassages } from './passages.ts'
import { deleteChunks, removeFiles } from './removed-files.ts'
import { cutPage, insertion, integer } from '../../store/sql/rows.ts'
import { PASSAGES } from './passage-index.ts'
import type { PlatformTables } from './tables.ts'
import { findNearest, insertVectors } from './vectors.ts'

/** @param searching where searches read */
export function fileReads(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
  searching: Query = query,
): FileReads {
  // An open file shows how far its job is.
  const shown = `SELECT file.*, job.stage, job.done, job.total, job.attempts AS job_attempts
    FROM ${t.files} file LEFT JOIN ${t.jobs} job ON job.id = file.id`
  return {
    async get(appId, id) {
      const [row] = await query(`${shown} WHERE file.id = $1 AND file.app_id = $2`, [id, appId])
      return row && toFile(row)
    },
    async list({ app_id, status, content_type, limit, after }) {
      const rows = await query(
        `${shown} WHERE file.app_id = $1 AND (CAST($2 AS TEXT) IS NULL OR file.id < $2)
           AND (CAST($3 AS TEXT) IS NULL OR file.status = $3)
           AND (CAST($4 AS TEXT) IS NULL OR file.content_type = $4)
         ORDER BY file.id DESC LIMIT $5`,
        [app_id, after, status, content_type, limit + 1],
      )
      return cutPage(rows.map(toFile), limit)
    },
    async bySha256(appId, sha256) {
      const [row] = await query(
        `${shown} WHERE file.app_id = $1 AND file.sha256 = $2 ORDER BY file.id LIMIT 1`,
        [appId, sha256],
      )
      return row && toFile(row)
    },
    async sum(appId) {
      const [row] = await query(
        `SELECT count(*) AS files, COALESCE(sum(size), 0) AS bytes FROM ${t.files}
         WHERE app_id = $1`,
        [appId],
      )
      return { files: integer(row?.['files']), bytes: integer(row?.['bytes']) }
    },
    async named(appId, sha256) {
      const rows = await query<Pick<FileRecord, 'sha256'>>(
        `SELECT DISTINCT sha256 FROM ${t.files}
         WHERE app_id = $1 AND ${dialect.among('sha256', '$2')}`,
        [appId, JSON.stringify(sha256)],
      )
      return rows.map((row) => row.sha256)
    },
    search: (search) => searchPassages(searching, t, dialect, search),
    nearest: (search) => findNearest(searching, t, dialect, search),
    async chunks(id, from, limit) {
      const rows = await query(
        `SELECT ordinal, text, heading, page, starts_at, ends_at FROM ${t.file_chunks}
         WHERE file_id = $1 AND ordinal >= $2 ORDER BY ordinal LIMIT $3`,
        [id, from, limit],
      )
      return rows.map(toChunk)
    },
  }
}

export function fileWrites(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
  jobs: Pick<JobWrites, 'enqueue' | 'complete'>,
): FileWrites {
  const enqueue = ({ id, app_id, account_id }: FileSubject): Promise<void> =>
    jobs.enqueue({ id, kind: 'file', app_id, account_id, queue: null, run_at: null })
  const heldFile = async (id: string, claim: string): Promise<{ app_id: string } | undefined> => {
    const sql = `SELECT app_id FROM ${t.jobs} WHERE ${isHeld()}`
    const [file] = await query<{ app_id: string }>(sql, [id, claim])
    return file
  }

  return {
    ...fileReads(query, t, dialect),
    async insert(file) {
      const { sql, bind } = insertion(COLUMNS, toValues(file))
      await query(`INSERT INTO ${t.files} ${sql}`, bind)
      if (file.status === 'queued') await enqueue(file)
    },
    async begin({ id, attempts }) {
      const [row] = await query(
        `UPDATE ${t.files} SET status = 'processing', attempts = $2
         WHERE id = $1 AND status IN ('queued', 'processing') RETURNING *`,
        [id, attempts],
      )
      return row && toFile(row)
    },
    async clear(id, claim, limit) {
      if ((await heldFile(id, claim)) === undefined) return undefined
      return deleteChunks(query, t, id, limit)
    },
    async addChunks(id, claim, chunks) {
      const file = await heldFile(id, claim)
      if (file === undefined) return false
      if (chunks.length > 0) await PASSAGES[dialect.name].insert(query, t, { id, ...file }, chunks)
      return true
    },
    async addVectors(id, claim, added) {
      if ((await heldFile(id, claim)) === undefined) return false
      if (added.vectors.length > 0) await insertVectors(query, t, id, added)
      return true
    },
    async finish(id, claim, now, end) {
      const held = `status = 'processing' AND ${whileHeld(t)}`
      const isEnded =
        end.status === 'processed'
          ? changes(
              query,
              `UPDATE ${t.files} SET status = 'processed', content_type = $3, chunks = $4,
                 characters = $5, processed_at = $6 WHERE id = $1 AND ${held} RETURNING id`,
              [id, claim, end.content_type, end.chunks, end.characters, now],
            )
          : changes(
              query,
              `UPDATE ${t.files} SET status = 'failed', error = $3
               WHERE id = $1 AND ${held} RETURNING id`,
              [id, claim, JSON.stringify(end.error)],
            )
      return (await isEnded) && jobs.complete(id, claim)
    },
    async retry(id) {
      const [file] = await query<FileSubject>(
        `UPDATE ${t.files} SET status = 'queued', error = NULL, attempts = 0
         WHERE id = $1 AND status = 'failed' RETURNING id, app_id, account_id`,
        [id],
      )
      if (file !== undefined) await enqueue(file)
      return file !== undefined
    },
    remove: (appId, id) => removeFiles(query, t, 'id = $1 AND app_id = $2', [id, appId]),
  }
}

type FileSubject = Pick<FileRecord, 'id' | 'app_id' | 'account_id'>
