import type { FileChunk, NewChunk } from './files.ts'

/** What stands above and below letters. */
const MARKS = /\p{M}+/gu
/** The longest word, in characters; what is longer is several. */
const WORD = /[\p{L}\p{N}]{1,64}/gu
/** The most words of one query that are looked for. */
const MOST_ASKED = 32

/**
 * The words of a text in their order: runs of letters and digits, without case and accents.
 *
 * What is kept to be found, and what is asked for, both go through here, so that no database's own idea
 * of a word matters.
 */
export function* wordsOf(text: string): Generator<string, void> {
  // Marks go before, too: thousands of them on one letter are put in order as slowly as they are many, squared.
  const plain = text.replace(MARKS, '').normalize('NFKD').replace(MARKS, '').toLowerCase()
  for (const [word] of plain.matchAll(WORD)) yield word
}

/** What a chunk is found by. */
export function wordsOfChunk({
  heading,
  text,
}: Pick<FileChunk, 'heading' | 'text'>): readonly string[] {
  return [...wordsOf(heading ?? ''), ...wordsOf(text)]
}

/** A chunk with its words, so that no unit of work waits for them: a hostile text has many. */
export function withWords(chunk: FileChunk): NewChunk {
  return { ...chunk, words: wordsOfChunk(chunk) }
}

/** The words of a chunk that is added, worked out by now or not. */
export function wordsOfNew(chunk: NewChunk): readonly string[] {
  return chunk.words ?? wordsOfChunk(chunk)
}

/** The different words of a query, the first 32 of them. */
export function wordsAsked(query: string): readonly string[] {
  const asked = new Set<string>()
  for (const word of wordsOf(query)) {
    asked.add(word)
    if (asked.size === MOST_ASKED) break
  }
  return [...asked]
}
