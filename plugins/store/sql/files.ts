import type { FileReads, FileRecord, FileWrites } from '../contract/files.ts'
import { wordsAsked } from '../words.ts'
import type { Dialect, Query } from './client.ts'
import { COLUMNS, toFile, toFound, toValues } from './file-rows.ts'
import { cutPage, insertion, integer } from './rows.ts'
import type { Tables } from './tables.ts'

/** As the index of what waits says it, word for word, so that it serves. */
const WAITING = `status IN ('queued', 'processing')`

export function fileReads(query: Query, t: Tables, dialect: Dialect): FileReads {
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
    async search({ query: asked, ...search }) {
      const words = wordsAsked(asked)
      if (words.length === 0) return []
      return (await dialect.passages.find(query, t, { ...search, words })).map(toFound)
    },
    async isClaimable(now) {
      return (await query(`SELECT 1 FROM ${t.files} ${CLAIMABLE} LIMIT 1`, [now])).length > 0
    },
  }
}

/** Of files, those that could be begun; $1 is now. */
const CLAIMABLE = `WHERE ${WAITING} AND (status = 'queued' OR COALESCE(lease_until, 0) <= $1)`

export function fileWrites(query: Query, t: Tables, dialect: Dialect): FileWrites {
  /** Whether a statement with RETURNING changed a row. */
  const changed = async (sql: string, bind: readonly unknown[]): Promise<boolean> =>
    (await query(sql, bind)).length > 0
  const held = `id = $1 AND claim = $2 AND status = 'processing'`
  const underWay = `(SELECT count(*) FROM ${t.files} busy WHERE busy.status = 'processing'
    AND busy.account_id = ${t.files}.account_id AND busy.lease_until > $1)`

  return {
    ...fileReads(query, t, dialect),
    async insert(file) {
      const { sql, bind } = insertion(COLUMNS, toValues(file))
      await query(`INSERT INTO ${t.files} ${sql}`, bind)
    },
    async claim({ claim, now, lease_until, deadline_at }) {
      const [row] = await query(
        `UPDATE ${t.files} SET status = 'processing', claim = $2, lease_until = $3,
           deadline_at = COALESCE(deadline_at, $4), attempts = attempts + 1, ${NO_PLACE}
         WHERE id = (SELECT id FROM ${t.files} ${CLAIMABLE}
           ORDER BY ${underWay}, id LIMIT 1 ${dialect.passOver})
         RETURNING *`,
        [now, claim, lease_until, deadline_at],
      )
      const file = row && toFile(row)
      if (file !== undefined) await forgetChunks(query, t, dialect, [file.id])
      return file
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
    async addChunks(id, claim, chunks) {
      // Changes nothing but who may: from here on, whoever would take it away waits.
      const [file] = await query<{ app_id: string }>(
        `UPDATE ${t.files} SET claim = claim WHERE ${held} RETURNING app_id`,
        [id, claim],
      )
      if (file === undefined) return false
      if (chunks.length > 0) {
        await dialect.passages.insert(query, t, { id, app_id: file.app_id }, chunks)
      }
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
      const failed = await changed(
        `UPDATE ${t.files} SET status = 'failed', error = $3, ${NOBODYS} WHERE ${held} RETURNING id`,
        [id, claim, JSON.stringify(end.error)],
      )
      if (failed) await forgetChunks(query, t, dialect, [id])
      return failed
    },
    retry: (id) =>
      changed(
        `UPDATE ${t.files} SET status = 'queued', error = NULL, attempts = 0, deadline_at = NULL
         WHERE id = $1 AND status = 'failed' RETURNING id`,
        [id],
      ),
    async remove(appId, id) {
      const removed = await changed(
        `DELETE FROM ${t.files} WHERE id = $1 AND app_id = $2 RETURNING id`,
        [id, appId],
      )
      if (removed) await forgetChunks(query, t, dialect, [id])
      return removed
    },
  }
}

/** Of what is not under way. */
const NO_PLACE = 'stage = NULL, done = 0, total = NULL'
const NOBODYS = `claim = NULL, lease_until = NULL, ${NO_PLACE}`

/** Whoever calls it holds the rows of the files, or has deleted them: nobody adds chunks meanwhile. */
async function forgetChunks(
  query: Query,
  t: Tables,
  dialect: Dialect,
  fileIds: readonly string[],
): Promise<void> {
  await query(`DELETE FROM ${t.file_chunks} WHERE ${dialect.among('file_id', '$1')}`, [
    JSON.stringify(fileIds),
  ])
}

/** Deletes every file of an app, with its chunks. */
export async function purgeFiles(
  query: Query,
  t: Tables,
  dialect: Dialect,
  appId: string,
): Promise<void> {
  const rows = await query<Pick<FileRecord, 'id'>>(
    `DELETE FROM ${t.files} WHERE app_id = $1 RETURNING id`,
    [appId],
  )
  await forgetChunks(
    query,
    t,
    dialect,
    rows.map(({ id }) => id),
  )
}
