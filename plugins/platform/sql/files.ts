import type { FileReads, FileRecord, FileWrites } from '../contract/files.ts'
import { changesARow, isHeld, whileHeld } from '../jobs/held.ts'
import { having } from '../model/pages.ts'
import { recordsOf } from '../model/records.ts'
import { FILES, FILE_CHUNK } from '../models/files.ts'
import { searchPassages } from './passages.ts'
import { deleteChunks, removeFiles } from './removed-files.ts'
import { assignments, integer } from '../../store/sql/rows.ts'
import { PASSAGES } from './passage-index.ts'
import { findNearest, insertVectors } from './vectors.ts'
import type { ReadScope, WriteScope } from './scope.ts'

export function fileReads({ query, t, dialect, search = query }: ReadScope): FileReads {
  const files = recordsOf(query, t, FILES)
  return {
    get: (app_id, id) => files.get({ id, app_id }),
    list: ({ app_id, status, content_type, ...page }) =>
      files.page({ of: { app_id }, filters: having(FILES, { status, content_type }), ...page }),
    bySha256: (appId, sha256) =>
      files.first('app_id = $1 AND sha256 = $2 ORDER BY id LIMIT 1', [appId, sha256]),
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
    search: (wanted) => searchPassages(search, t, dialect, wanted),
    nearest: (wanted) => findNearest(search, t, dialect, wanted),
    async chunks(id, from, limit) {
      const rows = await query(
        `SELECT ${Object.keys(FILE_CHUNK.columns).join(', ')} FROM ${t.file_chunks}
         WHERE file_id = $1 AND ordinal >= $2 ORDER BY ordinal LIMIT $3`,
        [id, from, limit],
      )
      return rows.map(FILE_CHUNK.read)
    },
  }
}

export function fileWrites({ query, t, dialect, rows, jobs }: WriteScope): FileWrites {
  const enqueue = ({ id, app_id, account_id }: FileSubject): Promise<void> =>
    jobs.enqueue({ id, kind: 'file', app_id, account_id, queue: null, run_at: null })
  const heldFile = async (id: string, claim: string): Promise<{ app_id: string } | undefined> => {
    const sql = `SELECT app_id FROM ${t.jobs} WHERE ${isHeld()}`
    const [file] = await query<{ app_id: string }>(sql, [id, claim])
    return file
  }

  return {
    ...fileReads({ query, t, dialect }),
    async insert(file) {
      await rows.insert(FILES, FILES.toRow(file))
      if (file.status === 'queued') await enqueue(file)
    },
    async begin({ id, attempts }) {
      const [row] = await query(
        `UPDATE ${t.files} SET status = 'processing', attempts = $2
         WHERE id = $1 AND status IN ('queued', 'processing') RETURNING *`,
        [id, attempts],
      )
      return row && FILES.toRecord(row)
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
    async finish(id, claim, now, { status, ...end }) {
      const processed = status === 'processed' ? { processed_at: now } : {}
      const { sql, bind } = assignments(FILES.toRow({ ...end, ...processed }), 3)
      const isEnded = await changesARow(
        query,
        `UPDATE ${t.files} SET status = '${status}', ${sql}
         WHERE id = $1 AND status = 'processing' AND ${whileHeld(t)} RETURNING id`,
        [id, claim, ...bind],
      )
      return isEnded && jobs.complete(id, claim)
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
