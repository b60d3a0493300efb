import type { FileVectors, FoundChunk, NearSearch } from '../contract/files.ts'
import type { NearChunk } from '../nearest.ts'
import { Nearest, inTurns } from '../nearest.ts'
import { compareWith, packVectors } from '../vectors.ts'
import type { Dialect, Query } from '../../store/sql/client.ts'
import { FOUND_CHUNK } from '../models/files.ts'
import { integer } from '../../store/sql/rows.ts'
import type { PlatformTables } from './tables.ts'

/** Whoever calls it holds the claim of the file. */
export async function insertVectors(
  query: Query,
  t: PlatformTables,
  fileId: string,
  { model, first, vectors }: FileVectors,
): Promise<void> {
  await query(
    `INSERT INTO ${t.file_vectors} (file_id, ordinal, chunks, model, packed)
     VALUES ($1, $2, $3, $4, $5)`,
    [fileId, first, vectors.length, model, packVectors(vectors)],
  )
}

/**
 * Passages by their vectors. Blocks are read a few at a time: all of them together may be many megabytes.
 *
 * SQLite goes through what is joined by CROSS JOIN in that order: from what is asked for to its rows, never
 * from all rows to what is asked for.
 */
export async function findNearest(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
  search: NearSearch,
): Promise<readonly FoundChunk[]> {
  const comparison = compareWith(search.vector)
  if (comparison === undefined) return []
  const nearest = new Nearest(comparison, search.limit)
  const held = heldBy(t, dialect, search)
  const [sum] = await query(
    `SELECT COALESCE(sum(held.chunks), 0) AS chunks ${held.from}`,
    held.bind,
  )
  const blocks =
    integer(sum?.['chunks']) > search.most
      ? readKnown(query, t, dialect, search, comparison.size)
      : readAll(query, t, dialect, held)
  for await (const block of blocks) nearest.compare(block)
  return readFound(query, t, dialect, search.app_id, nearest.best())
}

/** The blocks that a search compares with. */
interface Held {
  readonly from: string
  readonly bind: readonly unknown[]
}

function heldBy(t: PlatformTables, dialect: Dialect, { app_id, model, files }: NearSearch): Held {
  const from = `FROM ${t.files} file JOIN ${t.file_vectors} held ON held.file_id = file.id
    WHERE file.app_id = $1 AND file.status = 'processed' AND held.model = $2`
  return files === null
    ? { from, bind: [app_id, model] }
    : {
        from: `${from} AND ${dialect.among('file.id', '$3')}`,
        bind: [app_id, model, JSON.stringify(files)],
      }
}

async function* readAll(query: Query, t: PlatformTables, dialect: Dialect, { from, bind }: Held) {
  const listed = await query(`SELECT held.id, held.chunks ${from} ORDER BY held.id`, bind)
  const blocks = listed.map((row) => ({ id: integer(row['id']), chunks: integer(row['chunks']) }))
  for (const some of inTurns(blocks)) {
    const rows = await query(
      `SELECT held.file_id, held.ordinal, held.chunks, held.packed
       FROM ${dialect.each('$1', 'asked')} CROSS JOIN ${t.file_vectors} held
       WHERE held.id = CAST(asked.value ->> 0 AS BIGINT)`,
      [JSON.stringify(some.map(({ id }) => [id]))],
    )
    for (const row of rows) yield toBlock(row)
  }
}

/** Of the chunks that are known already, each vector by itself. */
async function* readKnown(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
  { app_id, model, files, known }: NearSearch,
  size: number,
) {
  const among = known.filter(({ file_id }) => files === null || files.includes(file_id))
  const ordinal = 'CAST(asked.value ->> 1 AS INTEGER)'
  const rows = await query(
    `SELECT held.file_id, ${ordinal} AS ordinal, 1 AS chunks,
       substr(held.packed, 1 + (${ordinal} - held.ordinal) * CAST($4 AS INTEGER),
         CAST($4 AS INTEGER)) AS packed
     FROM ${dialect.each('$1', 'asked')} CROSS JOIN ${t.file_vectors} held
       CROSS JOIN ${t.files} file
     WHERE held.file_id = asked.value ->> 0 AND held.ordinal = (
         SELECT max(ordinal) FROM ${t.file_vectors}
         WHERE file_id = asked.value ->> 0 AND ordinal <= ${ordinal})
       AND held.ordinal + held.chunks > ${ordinal} AND file.id = held.file_id
       AND file.app_id = $2 AND file.status = 'processed' AND held.model = $3
       AND length(held.packed) = held.chunks * CAST($4 AS INTEGER)`,
    [JSON.stringify(among.map((one) => [one.file_id, one.ordinal])), app_id, model, size],
  )
  for (const row of rows) yield toBlock(row)
}

function toBlock(row: Readonly<Record<string, unknown>>) {
  return {
    file_id: String(row['file_id']),
    ordinal: integer(row['ordinal']),
    chunks: integer(row['chunks']),
    packed: row['packed'] as Uint8Array,
  }
}

async function readFound(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
  appId: string,
  best: readonly NearChunk[],
): Promise<readonly FoundChunk[]> {
  const rows = await query(
    `SELECT kept.file_id, file.name, kept.ordinal, kept.text, kept.heading, kept.page,
       kept.starts_at, kept.ends_at, CAST(asked.value ->> 2 AS INTEGER) AS place
     FROM ${dialect.each('$1', 'asked')} CROSS JOIN ${t.file_chunks} kept
       CROSS JOIN ${t.files} file
     WHERE kept.file_id = asked.value ->> 0 AND kept.ordinal = CAST(asked.value ->> 1 AS INTEGER)
       AND file.id = kept.file_id AND file.app_id = $2 AND file.status = 'processed'
     ORDER BY place`,
    [JSON.stringify(best.map(({ file_id, ordinal }, place) => [file_id, ordinal, place])), appId],
  )
  return rows.map((row) => ({
    ...FOUND_CHUNK.read(row),
    score: Number(best[integer(row['place'])]?.score),
  }))
}
