import type { FileReads, FileRecord, FileWrites } from '../contract/files.ts'
import type { Dialect, Query } from '../../store/sql/client.ts'
import { claimRow, isFileClaimable } from './file-claim.ts'
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
  return {
    async get(appId, id) {
      const [row] = await query(`SELECT * FROM ${t.files} WHERE id = $1 AND app_id = $2`, [
        id,
        appId,
      ])
      return row && toFile(row)
    },
    async list({ app_id, status, content_type, limit, after }) {
      const rows = await query(
        `SELECT * FROM ${t.files} WHERE app_id = $1 AND (CAST($2 AS TEXT) IS NULL OR id < $2)
           AND (CAST($3 AS TEXT) IS NULL OR status = $3)
           AND (CAST($4 AS TEXT) IS NULL OR content_type = $4)
         ORDER BY id DESC LIMIT $5`,
        [app_id, after, status, content_type, limit + 1],
      )
      return cutPage(rows.map(toFile), limit)
    },
    async bySha256(appId, sha256) {
      const [row] = await query(
        `SELECT * FROM ${t.files} WHERE app_id = $1 AND sha256 = $2 ORDER BY id LIMIT 1`,
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
    isClaimable: (now) => isFileClaimable(query, t, now),
  }
}

export function fileWrites(query: Query, t: PlatformTables, dialect: Dialect): FileWrites {
  /** Whether a statement with RETURNING changed a row. */
  const changed = async (sql: string, bind: readonly unknown[]): Promise<boolean> =>
    (await query(sql, bind)).length > 0
  const held = `id = $1 AND claim = $2 AND status = 'processing'`
  /** Changes nothing but who may: from here on, whoever would take the file away waits. */
  const hold = async (id: string, claim: string): Promise<{ app_id: string } | undefined> => {
    const [file] = await query<{ app_id: string }>(
      `UPDATE ${t.files} SET claim = claim WHERE ${held} RETURNING app_id`,
      [id, claim],
    )
    return file
  }

  return {
    ...fileReads(query, t, dialect),
    async insert(file) {
      const { sql, bind } = insertion(COLUMNS, toValues(file))
      await query(`INSERT INTO ${t.files} ${sql}`, bind)
    },
    async claim(asked) {
      const row = await claimRow(query, t, dialect, asked)
      return row && toFile(row)
    },
    beat: (id, claim, { lease_until, stage, done, total }) =>
      changed(
        `UPDATE ${t.files} SET lease_until = $3, stage = $4, done = $5, total = $6
         WHERE ${held} RETURNING id`,
        [id, claim, lease_until, stage, done, total],
      ),
    release: (id, claim, now) =>
      changed(
        `UPDATE ${t.files} SET lease_until = $3, attempts = attempts - 1,
           stage = NULL, done = 0, total = NULL
         WHERE ${held} RETURNING id`,
        [id, claim, now],
      ),
    async clear(id, claim, limit) {
      if ((await hold(id, claim)) === undefined) return undefined
      return deleteChunks(query, t, id, limit)
    },
    async addChunks(id, claim, chunks) {
      const file = await hold(id, claim)
      if (file === undefined) return false
      if (chunks.length > 0) await PASSAGES[dialect.name].insert(query, t, { id, ...file }, chunks)
      return true
    },
    async addVectors(id, claim, added) {
      if ((await hold(id, claim)) === undefined) return false
      if (added.vectors.length > 0) await insertVectors(query, t, id, added)
      return true
    },
    async finish(id, claim, now, end) {
      if (end.status === 'processed') {
        return changed(
          `UPDATE ${t.files} SET status = 'processed', content_type = $3, chunks = $4,
             characters = $5, processed_at = $6, ${NOBODYS} WHERE ${held} RETURNING id`,
          [id, claim, end.content_type, end.chunks, end.characters, now],
        )
      }
      return changed(
        `UPDATE ${t.files} SET status = 'failed', error = $3, ${NOBODYS} WHERE ${held} RETURNING id`,
        [id, claim, JSON.stringify(end.error)],
      )
    },
    retry: (id) =>
      changed(
        `UPDATE ${t.files} SET status = 'queued', error = NULL, attempts = 0, deadline_at = NULL
         WHERE id = $1 AND status = 'failed' RETURNING id`,
        [id],
      ),
    remove: (appId, id) => removeFiles(query, t, 'id = $1 AND app_id = $2', [id, appId]),
  }
}

/** Of what is not under way. */
const NO_PLACE = 'stage = NULL, done = 0, total = NULL'
const NOBODYS = `claim = NULL, lease_until = NULL, ${NO_PLACE}`

/** Deletes every file of an app. */
export async function purgeFiles(query: Query, t: PlatformTables, appId: string): Promise<void> {
  await removeFiles(query, t, 'app_id = $1', [appId])
}
