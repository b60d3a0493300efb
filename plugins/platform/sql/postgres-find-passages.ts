import type { Query } from '../../store/sql/client.ts'
import type { Matches, WordSearch } from './word-index.ts'
import type { Asked } from './word-index.ts'
import { MOST_HELD, MOST_HOLDERS, NO_MATCHES, printAppTerm, rarest } from './word-index.ts'
import { integer, jsonOrNull } from '../../store/sql/rows.ts'
import type { PlatformTables } from './tables.ts'

/** In an app of more passages a sample says first how many hold a word: the index cannot stop half-way. */
const MOST_UNJUDGED = 2000
/** Passages of a sample, about. */
const SAMPLE = 512
/** Entries of the index that one search reads. */
const MOST_ENTRIES = 200_000
/** Passages that are passed over in the time of an entry, where a word is frequent in other apps. */
const PASSED_OVER = 16

/**
 * Each word is looked for in the index where reading what it says of it has a bound, else in a sample of the
 * passages; then what the words are held by is put together.
 */
export async function findPassages(
  query: Query,
  t: PlatformTables,
  { app_id, words, files, most }: WordSearch,
): Promise<Matches> {
  const chosen = files && JSON.stringify(files)
  const [sums] = await query(
    `SELECT COALESCE(sum(chunks), 0) AS all, COALESCE(sum(chunks) FILTER (
         WHERE ${CHOSEN}), 0) AS searched
       FROM ${t.files} WHERE app_id = $1 AND status = 'processed'`,
    [app_id, chosen],
  )
  const [all, passages] = [integer(sums?.['all']), integer(sums?.['searched'])]
  if (passages === 0) return NO_MATCHES
  const judged = await judge(query, t, app_id, words, all)
  const indexed = new Set(chooseIndexed(judged, all).map(({ number }) => number))
  const asked = judged.map(({ number, word, holders }) => [
    `${printLexeme(app_id)} & ${word}`,
    word,
    indexed.has(number),
    (holders * passages) / all,
  ])
  const rows = await query(bestStatement(t), [
    app_id,
    chosen,
    JSON.stringify(asked),
    passages,
    stepOf(passages),
    most,
  ])
  const counted = jsonOrNull<Readonly<Record<string, number>>>(rows[0]?.['counted'] ?? null)
  return { passages, holders: words.map((_, number) => counted?.[number] ?? 0), rows }
}

/** The app's id as a lexeme that no word looks like. */
export function printLexeme(appId: string): string {
  return `':${printAppTerm(appId)}'`
}

/** Every so many passages of a file, from one on that nobody can foresee, are in a sample. */
function stepOf(passages: number): number {
  return Math.max(1, Math.ceil(passages / SAMPLE))
}

interface Judged extends Asked {
  /** As a query. */
  readonly word: string
}

/** About how many passages of the app hold each word; 0 in an app where that does not matter. */
async function judge(
  query: Query,
  t: PlatformTables,
  appId: string,
  words: readonly string[],
  all: number,
): Promise<readonly Judged[]> {
  const printed = words.map((word) => `'${word}'`)
  if (all <= MOST_UNJUDGED) return printed.map((word, number) => ({ number, word, holders: 0 }))
  const rows = await query(
    `WITH searched AS MATERIALIZED (
         SELECT id, chunks FROM ${t.files} WHERE app_id = $1 AND status = 'processed'),
       sample AS MATERIALIZED (${sampleOf(t, '$3')})
     SELECT number, count(*) FILTER (WHERE sample.words @@ word::tsquery) AS holders, count(*) AS of
     FROM jsonb_array_elements_text($2::jsonb) WITH ORDINALITY AS asked (word, number)
       CROSS JOIN sample GROUP BY number ORDER BY number`,
    [appId, JSON.stringify(printed), stepOf(all)],
  )
  return printed.map((word, number) => {
    const row = rows[number]
    // What no passage of the sample holds may be held by some all the same.
    const part = Math.max(0.5, integer(row?.['holders'] ?? 0)) / integer(row?.['of'] ?? 1)
    return { number, word, holders: part * all }
  })
}

/** Words that the index is asked for, though nobody knows how many passages of other apps hold them. */
function chooseIndexed(judged: readonly Judged[], all: number): readonly Judged[] {
  const passedOver = Math.min(all / PASSED_OVER, MOST_ENTRIES / 2)
  const entries = ({ holders }: Judged) => holders + passedOver
  const few = rarest(judged, entries, MOST_ENTRIES)
  return rarest(few, ({ holders }) => Math.min(holders, MOST_HOLDERS), MOST_HELD)
}

/** A condition on files: $2 names them, or is null. */
const CHOSEN = `CAST($2 AS TEXT) IS NULL
  OR id IN (SELECT jsonb_array_elements_text(CAST($2 AS TEXT)::jsonb))`

/**
 * A sample of the passages of the files `searched`, with their words. OFFSET 0 keeps each look-up by itself.
 * A file's id says where it begins: whoever writes a file does not know that yet.
 */
function sampleOf(t: PlatformTables, step: string): string {
  return `SELECT kept.id, strip(kept.words) AS words FROM searched
    CROSS JOIN LATERAL generate_series(
      ('x' || substr(md5(searched.id), 1, 7))::bit(28)::integer % CAST(${step} AS INTEGER),
      searched.chunks - 1, CAST(${step} AS INTEGER)) AS place
    CROSS JOIN LATERAL (SELECT id, words FROM ${t.file_chunks} chunk
      WHERE chunk.file_id = searched.id AND chunk.ordinal = place OFFSET 0) kept`
}

/**
 * What holds the most of words. Of a word that many hold, the index says some, in the order in which they lie.
 *
 * OFFSET 0 keeps the walk over the index by itself, once a word: joined, it would be one for each file.
 */
function bestStatement(t: PlatformTables): string {
  return `WITH asked AS MATERIALIZED (
      SELECT number - 1 AS number, (value ->> 0)::tsquery AS of_app, (value ->> 1)::tsquery AS word,
        (value ->> 2)::boolean AS indexed, (value ->> 3)::float8 AS judged
      FROM jsonb_array_elements($3::jsonb) WITH ORDINALITY AS asked (value, number)
    ), searched AS MATERIALIZED (
      SELECT id, chunks FROM ${t.files}
      WHERE app_id = $1 AND status = 'processed' AND (${CHOSEN})
    ), sample AS MATERIALIZED (
      SELECT * FROM (${sampleOf(t, '$5')}) sample WHERE EXISTS (SELECT 1 FROM asked WHERE NOT indexed)
    ), hit AS MATERIALIZED (
      SELECT asked.number, holder.id FROM (SELECT * FROM asked WHERE indexed) asked
      CROSS JOIN LATERAL (
        SELECT held.id FROM (
          SELECT id, file_id FROM ${t.file_chunks} WHERE words @@ asked.of_app OFFSET 0) held
        WHERE held.file_id IN (SELECT id FROM searched) LIMIT ${MOST_HOLDERS}) holder
      UNION ALL SELECT asked.number, sample.id FROM asked CROSS JOIN sample
      WHERE NOT asked.indexed AND sample.words @@ asked.word
    ), counted AS MATERIALIZED (
      SELECT asked.number, CASE WHEN indexed AND count(*) < ${MOST_HOLDERS} THEN count(*)
        ELSE GREATEST(count(*), max(judged)) END AS holders
      FROM hit JOIN asked ON asked.number = hit.number GROUP BY asked.number, indexed
    ), best AS (
      SELECT hit.id, sum(ln(1 + CAST($4 AS INTEGER) / holders)) AS weight,
        sum(CAST(2 AS BIGINT) ^ hit.number) AS held
      FROM hit JOIN counted ON counted.number = hit.number
      GROUP BY hit.id ORDER BY weight DESC, hit.id LIMIT $6
    ) SELECT kept.file_id, file.name, kept.ordinal, kept.text, kept.heading, kept.page,
        kept.starts_at, kept.ends_at, best.held,
        (SELECT json_object_agg(number, holders) FROM counted) AS counted
      FROM best JOIN ${t.file_chunks} kept ON kept.id = best.id
        JOIN ${t.files} file ON file.id = kept.file_id
      ORDER BY best.weight DESC, kept.id`
}
