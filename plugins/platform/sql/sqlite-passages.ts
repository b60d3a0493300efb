import type { Passages } from './word-index.ts'
import { printAppTerm } from './word-index.ts'
import { wordsOfNew } from '../contract/words.ts'
import { findPassages } from './sqlite-find-passages.ts'

/**
 * An index beside the chunks that keeps no text of its own. Its tokens are our words: they come parted
 * by blanks, and its tokenizer takes every letter for one.
 */
export const PASSAGES: Passages = {
  columns: '',
  index: (t) => [
    `CREATE VIRTUAL TABLE ${t.file_words} USING fts5 (app, words, content='',
      contentless_delete=1, tokenize='ascii')`,
    `CREATE TRIGGER ${t.file_words}_forget AFTER DELETE ON ${t.file_chunks} BEGIN
      DELETE FROM ${t.file_words} WHERE rowid = old.id;
    END`,
  ],
  async insert(query, t, { id, app_id }, chunks) {
    await query(
      `INSERT INTO ${t.file_chunks} (file_id, ordinal, text, heading, page, starts_at, ends_at)
       SELECT $1, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5
       FROM json_each($2)`,
      [
        id,
        JSON.stringify(
          chunks.map(({ ordinal, text, heading, page, start, end }) => [
            ordinal,
            text,
            heading,
            page,
            start,
            end,
          ]),
        ),
      ],
    )
    // From what is added to its chunks: the other way, all of a file would be looked at for each piece of it.
    await query(
      `INSERT INTO ${t.file_words} (rowid, app, words)
       SELECT kept.id, $2, added.value ->> 1 FROM json_each($3) added
         CROSS JOIN ${t.file_chunks} kept ON kept.file_id = $1 AND kept.ordinal = added.value ->> 0`,
      [
        id,
        printAppTerm(app_id),
        JSON.stringify(chunks.map((chunk) => [chunk.ordinal, wordsOfNew(chunk).join(' ')])),
      ],
    )
  },
  find: findPassages,
}
