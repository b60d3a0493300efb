import type { FoundChunk } from '../contract/files.ts'
import { wordsAsked, wordsOfChunk } from '../contract/words.ts'

type Searched = Omit<FoundChunk, 'score'>

/** Chunks that hold any of the words: each word counts, the more the fewer chunks hold it. */
export function searchChunks(
  chunks: readonly Searched[],
  query: string,
  limit: number,
): readonly FoundChunk[] {
  const asked = wordsAsked(query)
  const found = chunks.flatMap((chunk) => {
    const own = new Set(wordsOfChunk(chunk))
    const words = asked.filter((word) => own.has(word))
    return words.length === 0 ? [] : [{ chunk, words }]
  })
  const holders = new Map<string, number>()
  for (const { words } of found) {
    for (const word of words) holders.set(word, (holders.get(word) ?? 0) + 1)
  }
  const weigh = (word: string): number => Math.log(1 + found.length / (holders.get(word) ?? 1))
  return found
    .map(({ chunk, words }) => ({
      ...chunk,
      score: words.reduce((sum, word) => sum + weigh(word), 0),
    }))
    .sort((a, b) => b.score - a.score || compare(a, b))
    .slice(0, limit)
}

function compare(a: Searched, b: Searched): number {
  if (a.file_id === b.file_id) return a.ordinal - b.ordinal
  return a.file_id < b.file_id ? -1 : 1
}
