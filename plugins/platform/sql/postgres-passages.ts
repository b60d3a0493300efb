import type { NewChunk } from '../contract/files.ts'
import { wordsOfNew } from '../contract/words.ts'
import type { Passages } from './passages.ts'
import { printAppTerm } from './passages.ts'
import type { PlatformTables } from './tables.ts'

/** Of a word that more chunks hold, this many are looked at, whichever they are: it counts least. */
const MOST_HOLDERS = 4000
/** How many times as many as asked for are ranked by where their words stand. */
const RANKED = 4
/** As many places of one word as are kept. */
const MOST_PLACES = 255

/** Lexemes are our own words, and one for the app that no word looks like: no parser is asked. */
export const PASSAGES: Passages = {
  columns: 'words TSVECTOR NOT NULL,',
  // Without a list of what is still to be entered: every search would read it for every word.
  index: (t) => [
    `CREATE INDEX ${t.file_chunks}_words ON ${t.file_chunks}
      USING GIN (words) WITH (fastupdate = off)`,
  ],
  async insert(query, t, { id, app_id }, chunks) {
    const app = printLexeme(app_id)
    await query(
      `INSERT INTO ${t.file_chunks}
         (file_id, ordinal, text, heading, page, starts_at, ends_at, words)
       SELECT CAST($1 AS TEXT), (value ->> 0)::integer, value ->> 1, value ->> 2,
         (value ->> 3)::integer, (value ->> 4)::bigint, (value ->> 5)::bigint,
         (value ->> 6)::tsvector
       FROM jsonb_array_elements($2::jsonb) AS chunk (value)`,
      [
        id,
        JSON.stringify(
          chunks.map((chunk) => {
            const { ordinal, text, heading, page, start, end } = chunk
            return [ordinal, text, heading, page, start, end, `${app} ${printPlaces(chunk)}`]
          }),
        ),
      ],
    )
  },
  find(query, t, { app_id, words, files, limit }) {
    const asked = words.map((word) => `'${word}'`)
    const app = printLexeme(app_id)
    return query(findStatement(t), [
      app_id,
      JSON.stringify(asked.map((word) => `${app} & ${word}`)),
      files && JSON.stringify(files),
      asked.join(' | '),
      limit,
      RANKED * limit,
    ])
  },
}

function printLexeme(appId: string): string {
  return `':${printAppTerm(appId)}'`
}

/** Each word with where it stands; words hold no quote. */
function printPlaces(chunk: NewChunk): string {
  const places = new Map<string, number[]>()
  let place = 0
  for (const word of wordsOfNew(chunk)) {
    place += 1
    const own = places.get(word)
    if (own === undefined) places.set(word, [place])
    else if (own.length < MOST_PLACES) own.push(place)
  }
  return [...places].map(([word, own]) => `'${word}':${own.join(',')}`).join(' ')
}

/**
 * A word counts the more the fewer of the app's chunks hold it. Where the words stand and how long the
 * chunk is, half a point at most, decides between chunks that hold as much: a word counts more than that.
 *
 * OFFSET 0 keeps the walk over the index by itself, once a word: joined, it would be one for each file.
 */
function findStatement(t: PlatformTables): string {
  return `WITH asked AS MATERIALIZED (
      SELECT number, word::tsquery AS word
      FROM jsonb_array_elements_text($2::jsonb) WITH ORDINALITY AS asked (word, number)
    ), searched AS MATERIALIZED (
      SELECT id FROM ${t.files} WHERE app_id = $1 AND status = 'processed'
        AND (CAST($3 AS TEXT) IS NULL
          OR id IN (SELECT jsonb_array_elements_text(CAST($3 AS TEXT)::jsonb)))
    ), hit AS MATERIALIZED (
      SELECT asked.number, holder.id FROM asked CROSS JOIN LATERAL (
        SELECT held.id FROM (SELECT id, file_id FROM ${t.file_chunks} WHERE words @@ asked.word OFFSET 0) held
        WHERE held.file_id IN (SELECT id FROM searched) LIMIT ${MOST_HOLDERS}) holder
    ), rarity AS (
      SELECT number, ln(1 + (SELECT count(DISTINCT id) FROM hit)::float8 / count(*)) AS weight
      FROM hit GROUP BY number
    ), best AS (
      SELECT hit.id, sum(rarity.weight) AS weight
      FROM hit JOIN rarity ON rarity.number = hit.number
      GROUP BY hit.id ORDER BY weight DESC, hit.id LIMIT $6
    ) SELECT kept.file_id, file.name, kept.ordinal, kept.text, kept.heading, kept.page,
        kept.starts_at, kept.ends_at,
        best.weight + 0.5 * ts_rank_cd(kept.words, CAST($4 AS TEXT)::tsquery, 1 | 32) AS score
      FROM best JOIN ${t.file_chunks} kept ON kept.id = best.id
        JOIN ${t.files} file ON file.id = kept.file_id
      ORDER BY score DESC, kept.file_id, kept.ordinal LIMIT $5`
}
