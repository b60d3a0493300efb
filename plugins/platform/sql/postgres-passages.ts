import type { NewChunk } from '../contract/files.ts'
import { wordsOfNew } from '../contract/words.ts'
import { findPassages, printLexeme } from './postgres-find-passages.ts'
import type { Passages } from './word-index.ts'

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
  find: findPassages,
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
