import type { Section } from '../table.ts'

const LINES: readonly (readonly [id: string, what: string, answer: string])[] = [
  [
    'N01',
    'Sixteen reads of SQLite that take long come at once, and four searches, and then an account writes.',
    'The driver is handed `3 reads` at a time, of which `1 search`, so that the writer has a thread: the row is stored `before half of them end`.',
  ],
  [
    'N02',
    'A word is in 2,001 passages of an app, and the last of them holds hardly anything but this word.',
    'Of passages that hold the same of what is asked for the words are counted of 64, those that were added first: the last is `not compared`. A rarer word finds it: `first`.',
  ],
  [
    'N03',
    'A search asks for 32 words, each of which is in 2,001 passages.',
    'It compares the passages of the rarest words, `10000 in all`, and ranks `64` of them.',
  ],
  [
    'N04',
    'Passages of another account hold a word 500 times that one passage of the app holds, and never the word that ten of the app’s passages hold.',
    'Words count by the app’s own passages: the passage with the rarer word is `first`.',
  ],
  [
    'N05',
    'One account sends twelve searches at once, and another account sends one.',
    'Searches of an account run `one at a time`, and that of another account begins beside the first: `200 to the twelfth`, `200 to another account`.',
  ],
  [
    'N06',
    'A client sends a search and disconnects while it waits for its turn.',
    'The search is `not begun`.',
  ],
  ['N07', 'Four accounts search at once.', 'The process reads for `2 at once`.'],
  [
    'N08',
    'A prompt asks for passages while eleven searches of its account run and wait.',
    'It waits for its turn with them, `not begun`, and is never refused: `passages`.',
  ],
  [
    'N09',
    'An account deletes a file of 1,600 passages, and another account writes.',
    'The commit deletes `0 passages`, of which nothing is found any more. They go in portions of `50 at most`, and the write is stored `in between`.',
  ],
  [
    'N10',
    'The process ends after a file was deleted, before its passages are.',
    'The next start deletes them, or the hour in another process: `nothing is left`.',
  ],
  [
    'N11',
    'A worker dies once it has added 1,600 passages of a file; another takes the file over, which fails.',
    'The passages go before it is read again, and before it fails, in units of `50 at most`: `nothing is left`.',
  ],
  [
    'N12',
    'Many quick reads of SQLite come, then sixteen that take long with quick ones beside them, and then an account writes.',
    'The driver is handed `16 quick reads` at a time, and `3 of the slow ones` with none beside them: the row is stored `before half of them end`.',
  ],
]

export const KNOWLEDGE: Section = {
  letter: 'N',
  title: 'Knowledge files: searches, and what is deleted',
  size: LINES.length,
  rows: LINES.map(([id, what, answer]) => ({ id, case: what, answer })),
}
