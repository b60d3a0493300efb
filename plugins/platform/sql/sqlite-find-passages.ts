import { weigh } from '../ranking.ts'
import type { Query } from '../../store/sql/client.ts'
import type { Matches, WordSearch } from './word-index.ts'
import type { Asked } from './word-index.ts'
import { MOST_HELD, MOST_HOLDERS, NO_MATCHES, printAppTerm, rarest } from './word-index.ts'
import { integer } from '../../store/sql/rows.ts'
import type { PlatformTables } from './tables.ts'

/**
 * Each word is looked for in the index until enough passages hold it; then what the rarest ones are held by
 * is put together. FTS5's own bm25() is not asked: it counts what all apps hold, and every place of each word.
 */
export async function findPassages(
  query: Query,
  t: PlatformTables,
  { app_id, words, files, most }: WordSearch,
): Promise<Matches> {
  const chosen = files && JSON.stringify(files)
  const spans = await readSpans(query, t, app_id, chosen)
  if (spans.length === 0) return NO_MATCHES
  const passages = chunksOf(spans)
  const found = await lookUp(query, t, app_id, words, spans)
  const scored = rarest(found, ({ seen }) => seen, MOST_HELD).map((word) => {
    const { match, last, holders, number } = word
    return [match, last, weigh(passages, holders), number]
  })
  const rows = await query(bestStatement(t), [
    JSON.stringify(scored),
    printSpans(spans),
    app_id,
    chosen,
    most,
  ])
  return { passages, holders: found.map(({ holders }) => holders), rows }
}

/** Chunks of an app that follow one another and are searched. */
interface Span {
  readonly first: number
  readonly last: number
  /** How many they are; between them may be some of other apps, and of files that were processed beside. */
  readonly chunks: number
}

/** Where the chunks lie that are searched: in what lies between, which may be much, no word is looked for. */
async function readSpans(
  query: Query,
  t: PlatformTables,
  appId: string,
  chosen: string | null,
): Promise<readonly Span[]> {
  const chunk = (way: 'ASC' | 'DESC'): string =>
    `(SELECT id FROM ${t.file_chunks} WHERE file_id = file.id ORDER BY ordinal ${way} LIMIT 1)`
  const rows = await query(
    `SELECT min(first) AS first, max(last) AS last, sum(chunks) AS chunks FROM (
       SELECT first, last, chunks, searched, row_number() OVER (ORDER BY first)
           - row_number() OVER (PARTITION BY searched ORDER BY first) AS run
         FROM (SELECT chunks, ${chunk('ASC')} AS first, ${chunk('DESC')} AS last,
             status = 'processed' AND ($2 IS NULL OR id IN (SELECT value FROM json_each($2)))
               AS searched
           FROM ${t.files} file WHERE app_id = $1)
         WHERE first IS NOT NULL)
       WHERE searched GROUP BY run ORDER BY first`,
    [appId, chosen],
  )
  return apart(
    rows.map((row) => ({
      first: integer(row['first']),
      last: integer(row['last']),
      chunks: integer(row['chunks']),
    })),
  )
}

/** Those of files that were processed at once may overlap; each chunk is to be in one. */
function apart(spans: readonly Span[]): readonly Span[] {
  let end = -1
  return spans.flatMap((span) => {
    const first = Math.max(span.first, end + 1)
    end = Math.max(span.last, end)
    return first > span.last ? [] : [{ ...span, first }]
  })
}

function printSpans(spans: readonly Span[]): string {
  return JSON.stringify(spans.map(({ first, last }) => [first, last]))
}

interface Found extends Asked {
  /** What the index is asked. */
  readonly match: string
  /** Chunks that hold it, up to `MOST_HOLDERS`. */
  readonly seen: number
  /** The last of these. */
  readonly last: number
}

/** How many chunks hold each word: counted, or judged by how far one goes to meet `MOST_HOLDERS`. */
async function lookUp(
  query: Query,
  t: PlatformTables,
  appId: string,
  words: readonly string[],
  spans: readonly Span[],
): Promise<readonly Found[]> {
  const matches = words.map((word) => `app : "${printAppTerm(appId)}" AND words : "${word}"`)
  const rows = await query<{ held: string }>(
    `SELECT (
       SELECT json_array(count(*), COALESCE(max(id), 0)) FROM (
         SELECT ${t.file_words}.rowid AS id FROM json_each($2) span CROSS JOIN ${t.file_words}
         WHERE ${t.file_words} MATCH asked.value
           AND ${t.file_words}.rowid BETWEEN span.value ->> 0 AND span.value ->> 1
         LIMIT ${MOST_HOLDERS})) AS held
     FROM json_each($1) asked ORDER BY asked.key`,
    [JSON.stringify(matches), printSpans(spans)],
  )
  return matches.map((match, number) => {
    const [seen, last] = JSON.parse(rows[number]?.held ?? '[0, 0]') as [number, number]
    const holders = seen < MOST_HOLDERS ? seen : (seen * chunksOf(spans)) / chunksUpTo(spans, last)
    return { number, match, seen, last, holders }
  })
}

function chunksOf(spans: readonly Span[]): number {
  return spans.reduce((sum, { chunks }) => sum + chunks, 0)
}

/** About how many chunks there are up to one. */
function chunksUpTo(spans: readonly Span[], last: number): number {
  return spans.reduce((sum, span) => {
    const part = (last - span.first + 1) / (span.last - span.first + 1)
    return sum + span.chunks * Math.min(1, Math.max(0, part))
  }, 0)
}

/**
 * What holds the most of words. From the index to the chunks, never the other way: it would be asked anew
 * for each of them. The LIMIT keeps the order, in which so many are taken as are searched.
 */
function bestStatement(t: PlatformTables): string {
  return `WITH best AS (
      SELECT ${t.file_words}.rowid AS id, sum(asked.value ->> 2) AS weight,
        sum(1 << (asked.value ->> 3)) AS held
      FROM json_each($1) asked CROSS JOIN json_each($2) span CROSS JOIN ${t.file_words}
      WHERE span.value ->> 0 <= asked.value ->> 1 AND ${t.file_words} MATCH asked.value ->> 0
        AND ${t.file_words}.rowid
          BETWEEN span.value ->> 0 AND min(span.value ->> 1, asked.value ->> 1)
      GROUP BY 1 ORDER BY weight DESC, id LIMIT ${MOST_HELD})
    SELECT kept.*, file.name, best.held FROM best CROSS JOIN ${t.file_chunks} kept
        CROSS JOIN ${t.files} file
      WHERE kept.id = best.id AND file.id = kept.file_id AND file.app_id = $3
        AND file.status = 'processed' AND ($4 IS NULL OR file.id IN (SELECT value FROM json_each($4)))
      LIMIT $5`
}
